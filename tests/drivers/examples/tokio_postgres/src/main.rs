use std::env;

use tokio_postgres::{NoTls, Row};

fn show(name: &str, rows: &[Row]) {
    rows.iter().for_each(|row| println!("{name} {}", row.get::<_, i64>("id")));
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = format!("host={} user={} dbname={}", env::var("PGHOST")?, env::var("PGUSER")?, env::var("PGDATABASE")?);
    let (client, connection) = tokio_postgres::connect(&settings, NoTls).await?;
    tokio::spawn(connection);
    let value: i64 = env::var("VALUE")?.parse()?;

    // @block 1@

    show("near", &near);
    show("nearest", &nearest);
    println!("si {si}");
    let number = @unsigned@;
    println!("unsigned {number}");
    println!("signed {}", @signed@);

    let bits: String = env::var("BITS")?;
    show("bits", &client.query(&env::var("BITS_QUERY")?, &[&bits, &20_i32]).await?);
    Ok(())
}
