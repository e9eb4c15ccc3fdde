import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ContractBot, openContractBot } from './contract-bot.ts';

let bot: ContractBot;
beforeAll(async () => {
  bot = await openContractBot();
});
afterAll(() => bot.close());

const STAGING = '1525c708-e4bc-426d-a9e7-d11b6c27caf5';

/** Runs a command line, confirms it, and returns its final card. */
async function done(line: string): Promise<readonly string[]> {
  bot.time.pass(61_000);
  return bot.currentLines(await bot.confirm(await bot.type(line)));
}

describe.for(['contract', 'full'] as const)('a cloud server with the profile %s', (profile) => {
  beforeAll(() => {
    bot.cloud.profile(profile);
  });

  test('starts and stops a service', async () => {
    bot.cloud.setServiceState(STAGING, 'running');
    const lines = await done('/service stop staging');
    expect(lines[0]).toBe('● Stop staging: accepted');
    const reported = profile === 'full' ? 'stopping' : 'no details';
    expect(lines.join('\n')).toContain(`The server reports: ${reported}. This can take minutes`);
    expect(bot.cloud.service(STAGING)?.state).toBe('stopping');
  });

  test('scales a service, and /service show contains the new size', async () => {
    const [min, max] = profile === 'full' ? [16, 64] : [20, 72];
    const lines = await done(`/service scale staging min=${min} max=${max}`);
    expect(lines.join('\n')).toContain('all values as requested');
    const seen = await bot.run('/service show staging');
    expect(seen).toContain(`Max replica memory gb  ${max}`);
  });

  test('creates a service and shows its password to its requester only', async () => {
    const card = await done(
      `/service create "for ${profile}" provider=aws region=eu-west-1 ip=10.0.0.0/8`,
    );
    expect(card.join('\n')).toContain('The server reports: ');
    expect(card.at(-1)).toBe('[Show the password]');
    const made = bot.cloud.services().find(({ name }) => name === `for ${profile}`);
    expect(card.join('\n')).toContain(`id ${made?.id}`);
  });

  test('shows a finished backup by its end time', async () => {
    bot.time.pass(61_000);
    const id = 'c6a20eb7-42fe-4995-b901-d32fb4f1fa9e';
    const lines = await bot.run(`/backup show analytics-prod ${id}`);
    const status = profile === 'full' ? 'done' : 'finished';
    expect(lines[0]).toBe(`Backup of analytics-prod: ${status}`);
  });
});

const SLOW = 'd89ded1cd0202f913c62d284';
const PROFILES = ['code', 'code-2026-07', 'code-2026-01', 'docs'] as const;

describe.for(PROFILES)('an alerts server with the profile %s', (profile) => {
  beforeAll(() => {
    bot.alerts.profile(profile);
    bot.time.pass(61_000);
  });

  test('lists and shows its alerts', async () => {
    expect((await bot.run('/alert list'))[0]).toBe('14 alerts');
    const lines = await bot.run('/alert show "Slow queries"');
    expect(lines).toContain(`Interval  ${bot.alerts.alert(SLOW)?.interval}`);
    expect(lines).toContain('Group by  database, user');
    expect(lines.find((line) => line.startsWith('Saved search  '))).not.toContain('unknown');
  });

  test.for([
    ['a saved search with a group and two channels', SLOW],
    ['a tile without a name', 'c73d35b92fd596bbf7ff2ace'],
    ['a note, a silence and consecutive windows', '357fc488efc4a66bb2a8f81a'],
    ['a range with an upper bound', '8ef29342507d91666304c181'],
    ['a threshold below zero and a name full of markup', '5b31b04e494986869810107b'],
    ['a schedule and separate errors', '4cc476b9c186b64bc5d65f43'],
  ] as const)('changes the interval of %s, and nothing else', async ([, id]) => {
    const before = bot.alerts.alert(id);
    const interval = before?.interval === '30m' ? '1h' : '30m';
    const puts = bot.alerts.effectCount('update alert', id);
    const lines = await done(`/alert edit ${id} interval=${interval}`);
    expect(lines[0]).toMatch(/^● Edit alert .*: accepted$/);
    expect(bot.alerts.effectCount('update alert', id) - puts).toBe(1);
    const { updatedAt: _, ...after } = bot.alerts.alert(id) ?? {};
    const { updatedAt: __, ...wanted } = { ...before, interval };
    expect(present(after)).toEqual(present(wanted));
  });
});

/** Removes null and undefined fields: servers may send either for a missing value. */
function present(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => (value ?? null) !== null));
}
