//! tokio-postgres, which prepares every statement and checks the types of parameters.

use tokio_postgres::NoTls;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tokio_postgres::Error> {
    let host = std::env::var("PGHOST").expect("PGHOST is the folder of the socket");
    let (client, connection) =
        tokio_postgres::connect(&format!("host={host} user=postgres dbname=postgres"), NoTls).await?;
    tokio::spawn(connection);
    let value: i64 = client.query_one("SELECT si FROM document WHERE id = 101", &[]).await?.get(0);
    let statement = client.prepare("SELECT id FROM document WHERE hamming(si, $1) <= $2").await?;
    for _ in 0..10 {
        let rows = client.query(&statement, &[&value, &3i32]).await?;
        assert!(rows.len() == 50 && rows.iter().any(|row| row.get::<_, i32>(0) == 101));
    }
    println!("queries: 10");
    Ok(())
}
