// npm run bench [-- --quick] [-- --json FILE] [SECTION…]: compiles the product and the benchmarks into one folder of
// their own, so that nobody's dist/ is touched, and starts them there.
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const out = `${root}node_modules/.cache/bench`;

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
execFileSync('npx', ['tsc', '-p', 'test/bench/tsconfig.json', '--outDir', out], { cwd: root, stdio: 'inherit' });
copyFileSync(`${root}package.json`, `${out}/package.json`);

const main = [`${out}/test/bench/main.js`, ...process.argv.slice(2)];
const bench = spawn(process.execPath, ['--expose-gc', ...main], { cwd: root, stdio: 'inherit' });
bench.on('exit', (code) => process.exit(code ?? 1));
