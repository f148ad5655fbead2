#!/bin/sh
# PostgreSQL's image runs this once, on an empty volume. Parley's role is a plain one: row-level security does not apply
# to a superuser (docs/operations.md).
psql -v ON_ERROR_STOP=1 -v "password=$POSTGRES_PASSWORD" -U "$POSTGRES_USER" -d postgres << 'SQL'
CREATE ROLE parley LOGIN PASSWORD :'password';
CREATE DATABASE parley OWNER parley;
SQL
