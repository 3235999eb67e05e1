import { defineConfig } from '@hey-api/openapi-ts';

/** A client of `/v1` as a consumer would generate it: the end-to-end tests speak through it. */
export default defineConfig({
  input: './openapi/openapi.json',
  output: { path: 'test/generated', postProcess: [] },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
});
