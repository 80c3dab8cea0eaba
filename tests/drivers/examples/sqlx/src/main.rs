use std::env;

use sqlx::postgres::{PgConnectOptions, PgPool};

fn show(name: &str, ids: &[i64]) {
    ids.iter().for_each(|id| println!("{name} {id}"));
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = PgPool::connect_with(PgConnectOptions::new()).await?;
    let value: i64 = env::var("VALUE")?.parse()?;

    // @block 1@

    show("near", &near);
    show("nearest", &nearest);
    println!("si {si}");
    let number = @unsigned@;
    println!("unsigned {number}");
    println!("signed {}", @signed@);

    let (query, bits) = (env::var("BITS_QUERY")?, env::var("BITS")?);
    show("bits", &sqlx::query_scalar(sqlx::AssertSqlSafe(query)).bind(bits).bind(20).fetch_all(&pool).await?);
    Ok(())
}
