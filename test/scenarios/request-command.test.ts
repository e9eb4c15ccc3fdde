import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setImmediate as immediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../sandbox/free-port.ts';
import { startIssuer, tokensOf, withAgents } from '../harness/agents.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { BEN } from '../harness/users.ts';

const PROGRAM = new URL('../../bin/signalbox-request.mjs', import.meta.url).pathname;

/** A process of the program, and what it printed so far. */
function start(words: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [PROGRAM, ...words], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { ended, printed: () => printed, kill: () => child.kill('SIGKILL') };
}

async function startPipeline() {
  const issuer = await startIssuer();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  let looks = 0;
  const sandbox = await startTestSandbox({
    yaml: withAgents(issuer, url),
    env: { PORT: String(port) },
    sleep: () => {
      looks += 1;
      return immediate();
    },
  });
  const tokens = tokensOf(issuer, () => sandbox.clock.now);
  const env = { SIGNALBOX_URL: url, SIGNALBOX_TOKEN: await tokens.ci({ audience: url }) };
  const run = (...words: readonly string[]) => start(words, env);
  const approve = async () => sandbox.press(BEN, await sandbox.card('staging'), 'change.approve');
  /** The place where a runner of GitHub gets its tokens. */
  const github = async () => {
    const asked: string[] = [];
    const server = createServer(async (request, response) => {
      asked.push(`${request.url} ${request.headers.authorization}`);
      response.end(JSON.stringify({ value: await tokens.ci({ audience: url }) }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close().closeAllConnections());
    const at = server.address();
    const place = `http://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}`;
    const minting = {
      SIGNALBOX_URL: url,
      ACTIONS_ID_TOKEN_REQUEST_URL: `${place}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'runner',
    };
    return { env: minting, asked };
  };
  return { ...sandbox, looks: () => looks, env, github, run, approve, door: url };
}

const STOP = ['service', 'stop', 'service=staging'];

test('0: requested, and with --wait applied', async () => {
  const { run, approve } = await startPipeline();
  const asked = run(...STOP, '--reason', 'nightly clean-up');
  expect(await asked.ended).toBe(0);
  expect(asked.printed()).toMatch(/^[A-Z0-9]{6}: It waits for approval in Slack\./);
  const waiting = run(...STOP, '--wait');
  await expect.poll(waiting.printed).toContain('You requested this already.');
  await approve();
  expect(await waiting.ended).toBe(0);
  expect(waiting.printed()).toContain('The server accepted it.');
  const help = run('service', 'stop', '--help');
  expect([await help.ended, help.printed()]).toEqual([0, expect.stringContaining('Exit code:')]);
  // What is so already is applied.
  expect(await run(...STOP, '--key', 'again').ended).toBe(0);
});

test('1: the server refused it', async () => {
  const { run, approve, cloud } = await startPipeline();
  cloud.injectFault({ operation: 'set state', fault: '403', times: 1 });
  const waiting = run(...STOP, '--wait');
  await approve();
  expect([await waiting.ended, waiting.printed()]).toEqual([
    1,
    expect.stringContaining('refused it'),
  ]);
});

test('2: wrong arguments, or a credential that is not accepted', async () => {
  const { run, env, slack } = await startPipeline();
  const codes = [
    run('service', 'stop', 'service=stagign'),
    run('service', 'stop', 'force=yes'),
    run('service', 'delete', 'service=staging'),
    run('sěrvice', 'stop', 'service=staging'),
    run(...STOP, '--force'),
    run(...STOP, '--within', 'x'),
    run(...STOP, 'service=ci'),
    run(...STOP, '--key', ''),
    run(...STOP, '--key='),
    run(),
    run(...STOP, '--url', 'http://signalbox.example.com/mcp'),
    start(STOP, { ...env, SIGNALBOX_TOKEN: 'x.y.z' }),
    start(STOP, { SIGNALBOX_URL: env.SIGNALBOX_URL }),
  ];
  expect(await Promise.all(codes.map(({ ended }) => ended))).toEqual(codes.map(() => 2));
  expect(slack.messages('db-approvals')).toHaveLength(0);
});

test('3: rejected by a person', async () => {
  const { run, ...sandbox } = await startPipeline();
  const waiting = run(...STOP, '--wait');
  const card = await sandbox.card('staging');
  await sandbox.pressWithReason(BEN, card, 'change.reject', 'not today');
  expect([await waiting.ended, waiting.printed()]).toEqual([
    3,
    expect.stringContaining('not today'),
  ]);
});

test('4: expired', async () => {
  const { github, clock, ...sandbox } = await startPipeline();
  const waiting = start([...STOP, '--wait'], (await github()).env);
  await sandbox.card('staging');
  // The program waits: it has no token on its way that is too old after the jump.
  await expect.poll(() => sandbox.looks()).toBeGreaterThan(3);
  clock.now = new Date(clock.now.getTime() + 30 * 24 * 3_600_000);
  sandbox.wake();
  expect([await waiting.ended, waiting.printed()]).toEqual([4, expect.stringContaining('expired')]);
});

test('5: the outcome is unknown', async () => {
  const { run, approve, cloud } = await startPipeline();
  cloud.injectFault({ operation: 'set state', fault: 'close-after-effect', times: 1 });
  const waiting = run(...STOP, '--wait');
  await approve();
  expect([await waiting.ended, waiting.printed()]).toEqual([5, expect.stringContaining('unknown')]);
});

test('6: Signalbox is not reached', async () => {
  const { env, run, down } = await startPipeline();
  await down();
  const gone = run(...STOP);
  expect([await gone.ended, gone.printed()]).toEqual([
    6,
    expect.stringContaining('Run it again with the same --key'),
  ]);
  expect(env.SIGNALBOX_URL).toContain('127.0.0.1');
});

/** A server that is not Signalbox answers each request with this. */
async function startServer(text: string) {
  const server = createServer((_request, response) => void response.end(text));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const at = server.address();
  return `http://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}`;
}

test('6: a request may exist: Signalbox fails, the place of the tokens fails, or a token expires', async () => {
  const { env, run, clock, looks } = await startPipeline();
  const broken = { summary: 'Internal error.', refusal: 'internal-error' };
  const result = { isError: true, structuredContent: broken };
  const failing = await startServer(JSON.stringify({ result }));
  expect(await start(STOP, { ...env, SIGNALBOX_URL: failing }).ended).toBe(6);
  const page = `${await startServer('<html>')}/token?x=1`;
  const minting = { ACTIONS_ID_TOKEN_REQUEST_URL: page, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'runner' };
  expect(await start(STOP, { ...env, ...minting }).ended).toBe(6);
  const waiting = run(...STOP, '--wait');
  await expect.poll(looks).toBeGreaterThan(3);
  // The wait of this call ends with its 50 seconds; the next call has the same token.
  clock.now = new Date(clock.now.getTime() + 2 * 3_600_000);
  expect([await waiting.ended, waiting.printed()]).toEqual([
    6,
    expect.stringContaining('not accepted. Run it again with the same --key'),
  ]);
});

test('7: it still waits', async () => {
  const { run } = await startPipeline();
  expect(await run(...STOP, '--wait', '--within', '0').ended).toBe(7);
});

test('a run that is killed and started again with its key attaches to the same change', async () => {
  const { run, approve, cloud } = await startPipeline();
  const words = [...STOP, '--key', 'run-7', '--wait'];
  const first = run(...words);
  await expect.poll(first.printed).toContain('waits for approval');
  first.kill();
  const second = run(...words);
  await expect.poll(second.printed).toContain('You requested this already.');
  await approve();
  expect(await second.ended).toBe(0);
  // After its end as well, for seven days.
  expect(await run(...words).ended).toBe(0);
  expect(cloud.count('set state')).toBe(1);
  expect(await run('service', 'start', 'service=staging', '--key', 'run-7').ended).toBe(3);
});

test('--wait=approved ends with the approval', async () => {
  const { run, approve } = await startPipeline();
  const waiting = run(...STOP, '--wait=approved');
  await approve();
  expect(await waiting.ended).toBe(0);
});

test('in GitHub Actions each call has a token of its own, for the address of Signalbox', async () => {
  const { github, approve, door } = await startPipeline();
  const { env, asked } = await github();
  const run = start([...STOP, '--wait'], env);
  await approve();
  expect(await run.ended).toBe(0);
  expect(asked.length).toBeGreaterThan(1);
  expect(asked[0]).toBe(
    `/token?api-version=2.0&audience=${encodeURIComponent(door)} Bearer runner`,
  );
});
