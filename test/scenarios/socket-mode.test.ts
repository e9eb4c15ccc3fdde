import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { SocketRefresh } from '../../sandbox/slack/delivery/socket-refresh.ts';
import { isReady, PROCESS_LIMITS, startProcessSandbox } from '../harness/bot-process.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

/** `SIGNALBOX_REFRESHES=100 npx vitest …` measures 100 refreshes; a short share runs by default. */
const REFRESHES = Number(process.env.SIGNALBOX_REFRESHES ?? 7);
const COMMAND_EVERY_MS = 50;
/** On a slow machine, more of them would only wait for each other. */
const MOST_UNANSWERED = 20;
const SOCKETS = { delivery: 'socket' } as const;

const KINDS: readonly SocketRefresh[] = [
  { reason: 'warning', closing: 'handshake' },
  { reason: 'refresh_requested', closing: 'handshake' },
  { reason: 'refresh_requested', closing: 'tcp-left-open' },
  { reason: 'warning', closing: 'reset' },
  { reason: null, closing: 'handshake' },
  { reason: null, closing: 'tcp-left-open' },
  { reason: null, closing: 'reset' },
];

function refreshes(): readonly SocketRefresh[] {
  const rounds = Array.from({ length: Math.ceil(REFRESHES / KINDS.length) }, () => KINDS);
  return rounds.flat().slice(0, REFRESHES);
}

/**
 * Types a command every 50 ms while `work` runs, and returns the errors that people saw. `delivered` lets the bot read
 * what Slack has sent: what is still on its way when a connection is reset is lost in reality as well.
 */
async function commandsDuring(
  { slack }: TestSandbox,
  work: (typed: () => number, delivered: () => Promise<void>) => Promise<void>,
) {
  const sent: Promise<string | null>[] = [];
  let answered = 0;
  let isTyping = true;
  const delivered = async () => {
    isTyping = false;
    for (let turns = 0; turns < 2; turns += 1) await turn();
    isTyping = true;
  };
  const timer = setInterval(() => {
    if (!isTyping || sent.length - answered >= MOST_UNANSWERED) return;
    const person = [ANA, BEN, CLEO][sent.length % 3] ?? ANA;
    const command = slack.command(person, 'ops', '/service list').then(({ error }) => error);
    sent.push(command.finally(() => (answered += 1)));
  }, COMMAND_EVERY_MS);
  await work(() => sent.length, delivered).finally(() => clearInterval(timer));
  const errors = await Promise.all(sent);
  return { sent: sent.length, lost: errors.filter((error) => error !== null) };
}

test.for([
  ['one replica', 'sqlite', 1],
  ['three replicas', 'postgres', 3],
] as const)(
  'refreshes of every kind under 20 commands per second lose no command with %s',
  { timeout: 300_000 },
  async ([, engine, replicas]) => {
    const sandbox = await startTestSandbox({
      ...SOCKETS,
      databaseUrl: await emptyUrl(engine),
    });
    const { slack } = sandbox;
    for (let n = 1; n < replicas; n += 1) await sandbox.replica();
    await expect.poll(slack.connections).toBe(2 * replicas);
    const opened = () => slack.calls('apps.connections.open').length;
    const { sent, lost } = await commandsDuring(sandbox, async (typed, delivered) => {
      for (const kind of refreshes()) {
        const before = opened();
        const typedBefore = typed();
        // Slack closes a connection 10 s after the warning, when its replacement is open.
        const closesWhen = async () => {
          const replaced = kind.reason === 'warning' ? 2 * replicas + 1 : 0;
          await expect.poll(slack.connections).toBeGreaterThanOrEqual(replaced);
          if (kind.closing === 'reset') await delivered();
        };
        await slack.refreshSockets({ ...kind, closesWhen });
        await expect.poll(opened, { interval: 5 }).toBeGreaterThan(before);
        await expect.poll(slack.connections, { interval: 5 }).toBe(2 * replicas);
        await expect.poll(typed, { interval: 5 }).toBeGreaterThan(typedBefore + 1);
      }
    });
    if (process.env.SIGNALBOX_REFRESHES)
      process.stdout.write(`${REFRESHES} refreshes, ${sent} commands, ${lost.length} lost\n`);
    expect(lost).toEqual([]);
    expect(sent).toBeGreaterThanOrEqual(2 * REFRESHES);
  },
);

test('three replicas that start together request six connections, and a reload none', async () => {
  const databaseUrl = await emptyUrl('postgres');
  const sandbox = await startTestSandbox({ ...SOCKETS, databaseUrl });
  const { slack } = sandbox;
  await Promise.all([sandbox.replica(), sandbox.replica()]);
  await expect.poll(slack.connections).toBe(6);
  expect(await sandbox.reload()).toEqual({ ok: true });
  expect(slack.calls('apps.connections.open')).toHaveLength(6);
  expect(await slack.command(ANA, 'ops', '/service list')).toMatchObject({ error: null });
});

async function socketProcess() {
  const databaseUrl = await emptyUrl('sqlite');
  const slack = { delivery: { mode: 'socket', leaveTcpOpen: true } } as const;
  return startProcessSandbox({ databaseUrl, delivery: 'socket', slack });
}

test('a stop finishes its work though Slack leaves the TCP connections open', async () => {
  const sandbox = await socketProcess();
  const bot = await sandbox.start();
  await expect.poll(sandbox.slack.connections, PROCESS_LIMITS).toBe(2);
  bot.signal('SIGTERM');
  expect(await bot.exited).toBe(0);
  // A stop that runs into its deadline ends with another line.
  expect(bot.logged().at(-1)).toBe('stopped');
});

test('it stays ready during a refresh', async () => {
  const sandbox = await socketProcess();
  const bot = await sandbox.start();
  await expect.poll(sandbox.slack.connections, PROCESS_LIMITS).toBe(2);
  await sandbox.slack.refreshSockets({ reason: 'refresh_requested', closing: 'handshake' });
  expect(await isReady(bot.url)).toBe(true);
});

test('invalid_auth on a reconnect ends the process with 78 and one line that names the token', async () => {
  const sandbox = await socketProcess();
  const bot = await sandbox.start();
  const { slack } = sandbox;
  await expect.poll(slack.connections, PROCESS_LIMITS).toBe(2);
  const how = { error: 'invalid_auth' };
  slack.failNext({ method: 'apps.connections.open', times: 99, how });
  await slack.refreshSockets({ reason: 'refresh_requested', closing: 'handshake' });
  expect(await bot.exited).toBe(78);
  const said = bot.logLines().filter((line) => line.includes('refuses new Socket Mode'));
  expect(said).toHaveLength(1);
  expect(said[0]).toContain('"where":"SLACK_APP_TOKEN"');
  expect(said[0]).toContain('invalid_auth');
  expect(bot.logged().join()).not.toContain('uncaught');
});

const METHOD = 'apps.connections.open';

test.for<[string, string, (sandbox: Awaited<ReturnType<typeof socketProcess>>) => void]>([
  [
    'an app token without connections:write',
    'the token lacks connections:write',
    ({ slack }) => slack.admin.setAppTokenScopes([]),
  ],
  [
    'an unknown app token',
    'Slack does not know this token',
    ({ slack }) => slack.failNext({ method: METHOD, times: 99, how: { error: 'invalid_auth' } }),
  ],
])('a start with %s exits with 78 and names it after one call', async ([, problem, prepare]) => {
  const sandbox = await socketProcess();
  prepare(sandbox);
  const { code, errors } = await sandbox.failedStart();
  expect(code).toBe(78);
  expect(errors).toContain(`SLACK_APP_TOKEN  ${problem}`);
  // A call takes at most 4 s, and no retry follows.
  expect(sandbox.slack.calls(METHOD)).toHaveLength(1);
});
