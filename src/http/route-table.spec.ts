import { describe, expect, it } from 'vitest';
import { RouteTable } from './route-table.js';

describe('The methods of a path', () => {
  const table = new RouteTable();
  table.add('POST', '/mcp');
  table.add('GET', '/v1/clusters');
  table.add('GET', '/v1/clusters/:clusterId');
  table.add('POST', '/v1/clusters/:clusterId');
  table.add('GET', '/docs/*');

  it.each([
    ['/mcp', ['POST']],
    ['/v1/clusters/1', ['GET', 'POST']],
    ['/docs/a/b', ['GET']],
    ['/v1/clusters/', []],
    ['/mcp/', []],
    ['/v1/clusters/1/2', []],
    ['/MCP', []],
    ['', []],
    ['*', []],
  ])('%s are %j', (path, methods) => {
    expect(table.methodsOf(path)).toEqual(methods);
  });
});
