import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Debian's Chromium; the project downloads no browser. */
const CHROMIUM = '/usr/bin/chromium';

/** Whether there is a browser to test in. */
export const hasChromium = existsSync(CHROMIUM);

/** What a title says where there is none. */
export const SKIPPED_WITHOUT_CHROMIUM = hasChromium ? '' : ` (skipped: there is no ${CHROMIUM})`;

/** Starts one with a profile of its own, which asks nobody for anything by itself. */
export function startChromium(): Promise<Browser> {
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  return chromium.launch({ executablePath: CHROMIUM, headless: true, args });
}
