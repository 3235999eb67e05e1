import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.spec.ts', 'test/**/*.spec.ts'],
    exclude: ['test/simulation/long/**', 'node_modules/**'],
    setupFiles: ['./test/support/setup.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
