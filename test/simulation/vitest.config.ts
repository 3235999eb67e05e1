import { defineConfig } from 'vitest/config';

/** The long simulation, apart from the tests: minutes instead of moments, and a table as its result. */
export default defineConfig({
  test: {
    include: ['test/simulation/long/**/*.spec.ts'],
    setupFiles: ['./test/support/setup.ts'],
    testTimeout: 3_600_000,
    disableConsoleIntercept: true,
  },
});
