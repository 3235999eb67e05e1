-- Run by TiDB once, when it starts for the first time. The user may do nothing outside its database; it needs no
-- password, since only the server's instances are on this database's network (see compose.yaml).
CREATE DATABASE IF NOT EXISTS tidb_mcp;
CREATE USER IF NOT EXISTS 'tidb_mcp'@'%';
GRANT CREATE, ALTER, INDEX, SELECT, INSERT, UPDATE, DELETE ON tidb_mcp.* TO 'tidb_mcp'@'%';
