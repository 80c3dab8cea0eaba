/*
 * For tools/tests/test-core: makes each session use simhash_pg before its first statement.
 *
 * Our planner hooks do nothing in a session that has not planned a call of our functions. This module is in
 * session_preload_libraries, and plans one where the database has the extension.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

void
_PG_init(void)
{
	/* A parallel worker loads it outside of a transaction, and a walsender may have no database. */
	if (IsParallelWorker() || !IsTransactionState() || !OidIsValid(MyDatabaseId))
		return;
	PushActiveSnapshot(GetTransactionSnapshot());
	SPI_connect();
	SPI_execute("SELECT FROM pg_catalog.pg_extension WHERE extname = 'simhash_pg'", true, 0);
	/* Of two constants, the planner would compute the distance without asking for our support. */
	if (SPI_processed > 0)
		SPI_execute("SELECT simhash.hamming(oid::bigint, 1) FROM pg_catalog.pg_extension", true, 0);
	SPI_finish();
	PopActiveSnapshot();
}
