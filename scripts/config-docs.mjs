// Writes the settings into every document that has the markers, and .env.example, from the built schema.
// Run after a build: npm run config:docs
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { DOCS_START, envExample, withSettings } from '../dist/config/settings-docs.js';

const root = new URL('../', import.meta.url);

for (const name of ['README.md', 'docs/configuration.md', 'docs/operating.md']) {
  const file = new URL(name, root);
  if (!existsSync(file)) continue;
  const text = readFileSync(file, 'utf8');
  if (text.includes(DOCS_START)) writeFileSync(file, withSettings(text));
}
writeFileSync(new URL('.env.example', root), envExample());
