#!/bin/sh
# Run once by PostgreSQL's image, over an empty volume. Parley's role is a plain one: a superuser would see every row,
# whatever row-level security says (docs/operations.md).
psql -v ON_ERROR_STOP=1 -v "password=$POSTGRES_PASSWORD" -U "$POSTGRES_USER" -d postgres << 'SQL'
CREATE ROLE parley LOGIN PASSWORD :'password';
CREATE DATABASE parley OWNER parley;
SQL
