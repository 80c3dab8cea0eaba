-- What change.py wrote. Called with -v texts=PATH -v related=PATH.
CREATE UNLOGGED TABLE sample (id integer, collection text, kind text, change text, number integer, text text);
ALTER TABLE sample ALTER text SET STORAGE EXTERNAL;
COPY sample FROM :'texts' CSV;
ANALYZE sample;

CREATE TABLE related (collection text, kind text, a integer, b integer);
COPY related FROM :'related' CSV;
