package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/pgxpool"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func show(name string, rows pgx.Rows) {
	for rows.Next() {
		var id int64
		check(rows.Scan(&id))
		fmt.Println(name, id)
	}
	check(rows.Err())
}

func main() {
	ctx := context.Background()
	pool, err := pgxpool.Connect(ctx, "")
	check(err)
	value, err := strconv.ParseInt(os.Getenv("VALUE"), 10, 64)
	check(err)
	var si int64

	// @block 1@

	check(err)
	show("near", near)
	show("nearest", nearest)
	fmt.Println("si", si)
	number := @unsigned@
	fmt.Println("unsigned", number)
	fmt.Println("signed", @signed@)

	bits, err := pool.Query(ctx, os.Getenv("BITS_QUERY"), os.Getenv("BITS"), 20)
	check(err)
	show("bits", bits)

	rows, err := pool.Query(ctx, "SELECT id FROM page WHERE hamming(si, $1) <= 6", number)
	if err == nil {
		rows.Close()
		err = rows.Err()
	}
	if err == nil {
		panic("an unsigned number was bound")
	}
}
