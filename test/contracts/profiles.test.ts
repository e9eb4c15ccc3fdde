import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ANA } from '../harness/users.ts';
import { type ContractBot, openContractBot } from './contract-bot.ts';
import { linesOf } from './message-lines.ts';
import { until } from './typing-user.ts';

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

describe.for(['contract', 'extended'] as const)('a cloud server with the profile %s', (profile) => {
  beforeAll(() => {
    bot.cloud.profile(profile);
  });

  test('starts and stops a service', async () => {
    bot.cloud.setServiceState(STAGING, 'running');
    const lines = await done('/service stop staging');
    const isReported = profile === 'extended';
    expect(lines[0]).toBe(isReported ? '◐ staging is stopping' : '● Stop staging: accepted');
    const reported = isReported ? 'stopping' : 'no details';
    expect(lines.join('\n')).toContain(`The server reports: ${reported}.`);
    expect(bot.cloud.service(STAGING)?.state).toBe('stopping');
  });

  test('scales a service, and /service show contains the new size', async () => {
    const [min, max] = profile === 'extended' ? [16, 64] : [20, 72];
    const lines = await done(`/service scale staging min=${min} max=${max}`);
    const saved = 'all values are saved as requested, not applied yet';
    expect(lines.join('\n')).toContain(profile === 'extended' ? saved : 'all values as requested');
    const seen = await bot.run('/service show staging details');
    expect(seen.find((line) => line.startsWith('Size  '))).toContain(`${min}–${max} GB`);
  });

  test('creates a service and shows its password to its requester only', async () => {
    const card = await done(
      `/service create "for ${profile}" provider=aws region=eu-west-1 ip=10.0.0.0/8`,
    );
    expect(card.join('\n')).toContain('The server reports: ');
    expect(card.at(-1)).toContain('[Show the password]');
    const made = bot.cloud.services().find(({ name }) => name === `for ${profile}`);
    expect(card.join('\n')).toContain(`id ${made?.id}`);
  });

  test('shows a finished backup by its end time', async () => {
    bot.time.pass(61_000);
    const id = 'c6a20eb7-42fe-4995-b901-d32fb4f1fa9e';
    const lines = await bot.run(`/backup show analytics-prod ${id}`);
    const status = profile === 'extended' ? 'done' : 'finished';
    expect(lines[0]).toBe(`Backup of analytics-prod: ${status}`);
  });
});

describe('a live cloud server', () => {
  beforeAll(() => {
    bot.cloud.profile('extended');
    bot.time.pass(61_000);
  });

  test('holds another size by its schedule, which the card and /service show name', async () => {
    const lines = await done('/service scale bi-readonly min=16 max=32');
    expect(lines.join('\n')).toContain(
      '⚠ the scaling schedule entry “Business hours” applies now: Minimum memory per replica (GB) is 64, Maximum memory per replica (GB) is 64',
    );
    const seen = await bot.run('/service show bi-readonly details');
    const size = seen.find((line) => line.startsWith('Size  '));
    expect(size).toContain('Size  64 GB');
    expect(size).toContain('(scaling schedule entry “Business hours”), otherwise 16–32 GB');
  });

  test('scales the number of replicas, which /service show and the next preview say', async () => {
    await done('/service scale ml-features idle=off');
    const seen = await bot.run('/service show ml-features details');
    expect(seen).toContain('Autoscaling mode  horizontal');
    expect(seen.find((line) => line.startsWith('Size  '))).toContain('× 2–4 replicas');
    const preview = await bot.run('/service scale ml-features replicas=3');
    expect(preview.join('\n')).toContain(
      'Replicas cannot be set: this service scales its number of replicas.',
    );
  });

  test.for([
    ['done, without an end', 'lab-core', 'bc084d52-9d01-4bf4-88e9-0bed3b7ff7d7', 'done'],
    ['failed', 'reporting-core', '7286a06a-a449-45c0-8967-7a17475a29ed', 'error'],
  ] as const)('reports a backup that is %s', async ([, service, id, status]) => {
    const lines = await bot.run(`/backup show ${service} ${id}`);
    expect(lines[0]).toBe(`Backup of ${service}: ${status}`);
    expect(lines.join('\n')).not.toContain('so far');
    expect(lines).toContain(`Duration  ${status === 'done' ? '8 min (480 s)' : '3 min (180 s)'}`);
  });

  test('has no settings for a pipe that copies a database, which is no error', async () => {
    const lines = await bot.run('/pipe settings analytics-prod customers-copy');
    expect(lines.slice(0, 2)).toEqual([
      'This pipe has no settings',
      'Pipes that copy a database have none. Any other pipe was deleted or belongs to another service.',
    ]);
    expect(lines[2]).toMatch(
      /^Server response {2}404 NOT_FOUND: ingestion for pipe ".*" not found$/,
    );
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
    expect((await bot.run('/alert list'))[0]).toMatch(/^\d+ of 14 alerts firing$/);
    const lines = await bot.run('/alert show "Slow queries"');
    expect(lines.join('\n')).toContain(`, every ${bot.alerts.alert(SLOW)?.interval}`);
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
    expect(lines[0]).toMatch(/^● Alert .* was edited$/);
    expect(bot.alerts.effectCount('update alert', id) - puts).toBe(1);
    const { updatedAt: _, ...after } = bot.alerts.alert(id) ?? {};
    const { updatedAt: __, ...wanted } = { ...before, interval };
    expect(present(after)).toEqual(present(wanted));
  });
});

test.for(PROFILES)('a deleted alert on a server with the profile %s', async (profile) => {
  bot.alerts.profile(profile);
  bot.time.pass(61_000);
  expect((await bot.run('/alert list'))[0]).toMatch(/^\d+ of \d+ alerts firing$/);
  // The list is cached for 30 s, so that its alert can be selected.
  const [deleted] = bot.alerts.alerts();
  bot.alerts.deleteAlert(deleted?.id ?? '');
  for (const line of [`/alert show ${deleted?.id}`, `/alert edit ${deleted?.id} threshold=5`]) {
    const lines = await bot.run(line);
    expect(lines[0]).toBe('There is no such alert');
    expect(lines[2]).toMatch(/^Server response {2}404 (Not Found|Alert not found)$/);
  }
  await bot.slack.command(ANA, 'ops', `/alert edit ${deleted?.id}`);
  const sentence = 'There is no such alert. It may have been deleted.';
  const shown = () =>
    bot.slack.clientState(ANA).views.find(({ blocks }) => linesOf(blocks).includes(sentence));
  const view = await until(shown, 'the form of a deleted alert');
  await bot.slack.close(ANA, view.id);
});

/** Removes null and undefined fields: servers may send either for a missing value. */
function present(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => (value ?? null) !== null));
}
