import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConsoleHistoryService } from '../../src/console/console-history.service.js';
import type { ConsoleReport } from '../../src/console/console-report.js';
import { hasChromium, SKIPPED_WITHOUT_CHROMIUM, startChromium } from '../support/chromium.js';
import { ask, bearer, startTestServer, type TestServer } from '../support/test-server.js';

const TOKEN = 'the-operators+own/token="1"';

describe.skipIf(!hasChromium)(`The console in Chromium${SKIPPED_WITHOUT_CHROMIUM}`, () => {
  let browser: Browser;
  let server: TestServer;
  let complaints: string[];
  let requested: URL[];

  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser.close());

  beforeEach(async () => {
    complaints = [];
    requested = [];
    server = await startTestServer({ TIDB_MCP_ADMIN_TOKEN: TOKEN, TIDB_MCP_DAILY_QUOTA: '25' });
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    await server.stop();
  });

  /** Opens the page; whatever it complains of or asks for is kept. */
  async function open(fragment = `#token=${TOKEN}`, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext(options);
    context.on('request', (request) => requested.push(new URL(request.url())));
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      // A browser says of every answer that is no success that it "failed to load" it.
      const isAnswer = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isAnswer) complaints.push(message.text());
    });
    await page.goto(`${server.url}/console${fragment}`);
    return page;
  }

  const state = (page: Page, name: string) => page.locator(`#state[data-state="${name}"]`).waitFor({ timeout: 15_000 });

  /** Makes 30 calls with one key (the first proves it, a burst of 20 is served), and lets a sample be taken. */
  async function thirtyCalls(): Promise<void> {
    const key = `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;
    for (let i = 0; i < 30; i += 1) await ask(`${server.url}/v1/capabilities`, bearer(key));
    server.clock.advance(5_000);
    await server.running.app.get(ConsoleHistoryService).sample();
  }

  it('shows what is refused while it is being looked at, without being loaded again', async () => {
    const page = await open();
    await state(page, 'live');
    expect(await page.locator('#legend').innerText()).toContain('Tenant 0/s, 0 in all');
    await page.evaluate(() => Object.assign(window, { sameDocument: true }));
    await thirtyCalls();
    await page.locator('#legend', { hasText: 'Tenant 1.8/s, 9 in all' }).waitFor();
    expect(await page.locator('#tile-refused').innerText()).toContain('1.8/s');
    expect(await page.locator('#tile-admitted').innerText()).toContain('21 calls');
    expect(await page.locator('#refusals-chart').getAttribute('aria-label')).toContain('Tenant 1.8');
    await page.locator('summary').click();
    expect(await page.locator('#minutes tbody tr').first().innerText()).toMatch(/^0–1\s+0\s+9\s+0\s+0\s+21$/);
    expect(await page.locator('#tenants tbody tr').innerText()).toMatch(/^[0-9a-f]{12}\s+21 of 25 · 84%$/);
    const width = await page.locator('#tenants .fill.near').evaluate((bar) => (bar as HTMLElement).style.width);
    expect(width).toBe('84%');
    expect(await page.locator('#upstream').innerText()).toContain('Answering');
    expect(await page.locator('#flush').innerText()).toContain('connected');
    expect(await page.locator('#limits').innerText()).toContain('5/s, burst 20');
    expect(await page.evaluate(() => 'sameDocument' in window)).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('asks this server alone, and never with the token in an address', async () => {
    const page = await open();
    await state(page, 'live');
    expect(page.url()).toBe(`${server.url}/console`);
    await page.reload();
    await state(page, 'live');
    expect(requested.filter(({ pathname }) => pathname === '/console/data').length).toBeGreaterThan(1);
    expect(new Set(requested.map(({ origin }) => origin))).toEqual(new Set([server.url]));
    expect(requested.filter(({ search }) => search.includes('token'))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('says that a wrong token is wrong, and takes the right one from the keyboard alone', async () => {
    const page = await open('#token=not-the-operators-token');
    await state(page, 'unauthorised');
    expect(await page.locator('#sign-in-error').innerText()).toBe('This is not the admin token of this server.');
    expect(await page.locator('#dashboard').isVisible()).toBe(false);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('token');
    await page.keyboard.type('no token ä');
    await page.keyboard.press('Enter');
    await state(page, 'unauthorised');
    await page.keyboard.type(TOKEN);
    await page.keyboard.press('Enter');
    await state(page, 'live');
    await page.locator('#pause').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Pre-auth');
    await page.keyboard.press('Space');
    expect(await page.locator('.legend .preauth').getAttribute('aria-pressed')).toBe('false');
    await page.locator('#forget').focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('#sign-in').isVisible()).toBe(true);
    await page.reload();
    await state(page, 'signed-out');
    expect(complaints).toEqual([]);
  });

  it('says when the server can not be reached, and goes on by itself when it can', async () => {
    const page = await open();
    await state(page, 'live');
    await page.route('**/console/data', (route) => route.abort());
    await state(page, 'unreachable');
    expect(await page.locator('#dashboard').isVisible()).toBe(true);
    await page.unroute('**/console/data');
    await state(page, 'live');
  });

  it('says when what it shows is old', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(`${server.url}/console#token=${TOKEN}`);
    await state(page, 'live');
    await page.route('**/console/data', () => undefined);
    await page.clock.runFor(11_000);
    await state(page, 'stale');
    expect(await page.locator('#updated').innerText()).toMatch(/^Data from 1\d s ago$/);
  });

  it('asks nothing while it is paused or not seen', async () => {
    const page = await open();
    await state(page, 'live');
    const asked = () => requested.filter(({ pathname }) => pathname === '/console/data').length;
    const show = (hidden: boolean) =>
      page.evaluate((isHidden) => {
        Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    await show(true);
    await state(page, 'hidden');
    const before = asked();
    await page.waitForTimeout(3_500);
    expect(asked()).toBe(before);
    await show(false);
    await state(page, 'live');
    expect(asked()).toBe(before + 1);
    await page.locator('#pause').click();
    await state(page, 'paused');
    await page.waitForTimeout(3_500);
    expect(asked()).toBe(before + 1);
    await page.locator('#pause').click();
    await state(page, 'live');
  });

  /** Lets a change be made to every report on its way to the page. */
  async function altered(page: Page, change: (report: ConsoleReport) => Partial<ConsoleReport>): Promise<void> {
    await page.route('**/console/data', async (route) => {
      const report = (await (await route.fetch()).json()) as ConsoleReport;
      await route.fulfill({ json: { ...report, ...change(report) } });
    });
  }

  it('says from where client addresses come, and marks it where most lack what is declared', async () => {
    const page = await open();
    await state(page, 'live');
    expect(await page.locator('#clients').innerText()).toMatch(/last 15 min\s+\d+ from the connection/);
    await altered(page, () => ({ clients: { declaredSource: 'x-real-ip', declared: 3, fallback: 1_200 } }));
    await page.locator('#clients .bad', { hasText: '3 from x-real-ip; 1,200 fell back' }).waitFor();
    await altered(page, () => ({ clients: { declaredSource: 'x-real-ip', declared: 1_200, fallback: 3 } }));
    await page.locator('#clients dd:not(.bad)', { hasText: '1,200 from x-real-ip; 3 fell back' }).waitFor();
  });

  it('does not go on about a shutdown once the instance is gone', async () => {
    const page = await open();
    await state(page, 'live');
    await altered(page, ({ instance }) => ({ instance: { ...instance, shuttingDown: true } }));
    await page.locator('#notice', { hasText: 'shutting down' }).waitFor();
    await page.route('**/console/data', (route) => route.abort());
    await state(page, 'unreachable');
    expect(await page.locator('#notice').isVisible()).toBe(false);
  });

  it.each([375, 320])('cuts no table at %i pixels, however long its words', async (width) => {
    const page = await open('', { viewport: { width, height: 740 } });
    await altered(page, ({ limits, upstream }) => ({
      limits: { ...limits, globalUnprovenShare: 0.5 },
      clients: { declaredSource: 'X-Forwarded-For, 2 from the right', declared: 12, fallback: 123_456 },
      upstream: {
        ...upstream,
        outcomes: [{ outcome: 'unavailable_connection', requests: 12_345, lastSeenSeconds: 605 }],
      },
    }));
    await page.goto(`${server.url}/console#token=${TOKEN}`);
    await state(page, 'live');
    await page.locator('#limits', { hasText: '50% for unproven' }).waitFor();
    const hidden = await page
      .locator('.scroll:visible, section:visible')
      .evaluateAll((all) => all.map((one) => one.scrollWidth - one.clientWidth));
    expect(hidden.filter((pixels) => pixels > 0)).toEqual([]);
    const lines = await page.locator('#outcomes td').evaluateAll((all) =>
      all.map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getClientRects().length;
      }),
    );
    expect(lines).toEqual([1, 1]);
    const marks = await page.evaluate(`Chart.getChart('refusals-chart').scales.x.ticks.map(({ label }) => label)`);
    expect(marks).toEqual(['−15 min', '−10 min', '−5 min', 'now']);
  });

  it('is dark for who wants it dark, and light otherwise', async () => {
    const lightness = async (colorScheme: 'dark' | 'light') => {
      const page = await open(`#token=${TOKEN}`, { colorScheme });
      await state(page, 'live');
      return page.evaluate(() => {
        const light = (colour: string) =>
          (colour.match(/\d+/g) ?? []).slice(0, 3).reduce((sum, c) => sum + +c, 0) / 765;
        const { backgroundColor, color } = getComputedStyle(document.body);
        return [light(backgroundColor), light(color)] as const;
      });
    };
    const [darkPage, darkText] = await lightness('dark');
    const [lightPage, lightText] = await lightness('light');
    expect([darkPage < 0.2, darkText > 0.8, lightPage > 0.9, lightText < 0.2]).toEqual([true, true, true, true]);
  });

  it('fits a phone: nothing has to be moved sideways, and everything can be touched', async () => {
    const page = await open(`#token=${TOKEN}`, { viewport: { width: 360, height: 740 }, hasTouch: true });
    await state(page, 'live');
    await thirtyCalls();
    await page.locator('#tenants tbody tr').waitFor();
    await page.locator('summary').tap();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    const heights = await page.locator('button:visible').evaluateAll((all) => all.map((one) => one.clientHeight));
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(28);
    const boxes = await page
      .locator('.tiles > div')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right));
    expect(Math.max(...boxes)).toBeLessThanOrEqual(360);
  });
});
