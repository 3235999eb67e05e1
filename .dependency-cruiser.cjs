/** The floors of the house, from the top: an import goes down, never up and never in a circle. */
const FLOORS = [
  ['cli'],
  ['serve', 'stdio', 'demo', 'openapi', 'tenants'],
  ['app.module'],
  ['http'],
  ['limits'],
  ['capabilities'],
  ['console'],
  ['auth'],
  ['proof-store'],
  ['confirm'],
  ['quota'],
  ['client-ip'],
  ['tenant-limits'],
  ['control-db'],
  ['sandbox'],
  ['tidb-cloud'],
  ['observability'],
  ['config'],
  ['request'],
  ['errors'],
  ['clock'],
];

const place = (names) => `^src/(${names.join('|').replaceAll('.', '\\.')})(/|\\.ts$)`;

module.exports = {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphan',
      severity: 'error',
      from: { orphan: true, pathNot: ['\\.spec\\.ts$', '^src/cli\\.ts$'] },
      to: {},
    },
    ...FLOORS.map((floor, i) => ({
      name: `${floor.join('-')}-only-down`,
      comment: 'An import goes down (docs/architecture.md).',
      severity: 'error',
      from: { path: place(floor), pathNot: '\\.spec\\.ts$' },
      to: { path: place(FLOORS.slice(0, i).flat().concat('nothing')) },
    })),
    {
      name: 'sandbox-is-for-demo-and-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/(sandbox/|demo\\.ts)', '\\.spec\\.ts$'] },
      to: { path: '^src/sandbox/' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
  },
};
