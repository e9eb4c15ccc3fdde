import { expect, test } from 'vitest';
import { atOnce } from '../harness/at-once.ts';
import {
  type BotProcess,
  PROCESS_LIMITS,
  type ProcessSandbox,
  startProcessSandbox,
} from '../harness/bot-process.ts';
import { requestChange, STAGING } from '../harness/requests.ts';
import { ANA, BEN } from '../harness/users.ts';
import { type Answer, type Exported, startCollector } from '../ops/collector.ts';
import { emptyUrl } from '../storage/engines.ts';

const KEY = 'Bearer a-canary-of-the-collector';
const REASON = 'canary words of a person';

async function startTraced(url: string, env: Readonly<Record<string, string>> = {}) {
  const sandbox = await startProcessSandbox({
    databaseUrl: await emptyUrl('sqlite'),
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: url, ...env },
  });
  const bot = await sandbox.startAndDeliver();
  return { sandbox, bot };
}

/** Runs one change from its command to its outcome. */
async function runChange(sandbox: ProcessSandbox): Promise<void> {
  const card = await requestChange(sandbox, ANA, `/service stop staging ${REASON}`);
  await sandbox.press(BEN, card, 'change.approve');
  await expect.poll(() => card.text, PROCESS_LIMITS).toContain('staging is stopping');
}

async function stop(bot: BotProcess): Promise<number | null> {
  bot.signal('SIGTERM');
  return bot.exited;
}

test('a whole change is exported to the collector, with each press and its effects', async () => {
  const collector = await startCollector();
  const { sandbox, bot } = await startTraced(collector.url, {
    OTEL_SERVICE_NAME: 'points-of-the-north',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging,team=data%20platform',
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=${encodeURIComponent(KEY)}`,
  });
  await runChange(sandbox);
  expect(await stop(bot)).toBe(0);

  const one = (name: string): Exported => {
    const [found, ...more] = collector.named(name);
    expect([name, found === undefined, more.length]).toEqual([name, false, 0]);
    if (!found) throw new Error(`There is no ${name}`);
    return found;
  };
  const asked = one('command service');
  expect(asked).toMatchObject({
    parentId: '',
    kind: 2,
    attributes: { 'signalbox.command': 'service stop', 'signalbox.ending': 'drafted' },
    resource: {
      'service.name': 'points-of-the-north',
      'deployment.environment.name': 'staging',
      team: 'data platform',
    },
  });
  const change = asked.attributes['signalbox.change'];
  expect(change).toMatch(/^[0-9A-Z]{6}$/);

  // The press and its handling from the log are one trace.
  const approved = one('change approved');
  expect(approved.attributes).toEqual({
    'signalbox.change': change,
    'signalbox.command': 'service stop',
    'signalbox.from': 'pending',
    'signalbox.to': 'approved',
  });
  const pressed = one('press change.approve');
  expect(pressed.traceId).toBe(approved.traceId);
  const path = pathTo(collector.spans, approved).map(({ name }) => name);
  expect(path).toEqual(['press change.approve', 'job press', 'change approved']);

  // Any replica may execute it, so only the change id connects it with the rest.
  const sent = one('cloud updateServiceState');
  expect(sent).toMatchObject({
    kind: 3,
    failed: false,
    attributes: { 'http.response.status_code': 200, 'signalbox.operation': 'updateServiceState' },
  });
  const execution = collector.spans.find(
    ({ name, traceId }) => name === 'job run' && traceId === sent.traceId,
  );
  if (!execution) throw new Error('The request is not in the trace of its execution');
  expect(execution.attributes['signalbox.change']).toBe(change);
  const ofExecution = collector.spans.filter(({ traceId }) => traceId === execution.traceId);
  expect(ofExecution.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'change executing',
      sent.name,
      'change succeeded',
      'slack conversations.replies',
    ]),
  );
  expect(collector.named('slack chat.update').length).toBeGreaterThan(0);
  // The spans of background work do not belong to the trace that woke it.
  const found = collector.spans.filter(({ kind }) => kind === 5);
  const own = found.filter(({ name }) => name !== 'job press');
  expect(own.map(({ name }) => name)).toEqual(expect.arrayContaining(['job run', 'job card']));
  expect(own.filter(({ parentId }) => parentId !== '')).toEqual([]);

  // The log lines contain the trace id.
  const line = bot.logLines().find((each) => each.includes('"to":"approved"'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({ trace_id: approved.traceId });

  expect(collector.headers.every(({ authorization }) => authorization === KEY)).toBe(true);
  const said = `${collector.raw()}\n${JSON.stringify(collector.spans)}`;
  const secrets = [sandbox.slack.botToken, REASON, 'canary', ANA, BEN, STAGING, 'hooks.slack'];
  expect(secrets.filter((secret) => said.includes(secret))).toEqual([]);
  expect(bot.logLines().filter((each) => each.includes('canary-of-the-collector'))).toEqual([]);
});

function pathTo(spans: readonly Exported[], span: Exported): readonly Exported[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentId);
  return [...(parent ? pathTo(spans, parent) : []), span];
}

/** How long the exporter waits for the collector. */
const EXPORT_MS = 60_000;

/** The collector does not take the spans of a change, and delays neither it nor a stop. */
async function isIgnored(answers: readonly Answer[]): Promise<void> {
  const collector = await startCollector(answers);
  const { sandbox, bot } = await startTraced(collector.url, {
    OTEL_EXPORTER_OTLP_TIMEOUT: String(EXPORT_MS),
  });
  await runChange(sandbox);
  const isRefused = () => collector.headers.length >= answers.length;
  await expect.poll(isRefused, PROCESS_LIMITS).toBe(true);
  const began = performance.now();
  expect(await stop(bot)).toBe(0);
  expect(performance.now() - began).toBeLessThan(EXPORT_MS / 2);
  expect(bot.logged().at(-1)).toBe('stopped');
}

async function isReportedOnce(): Promise<void> {
  const { sandbox, bot } = await startTraced('http://127.0.0.1:1', {
    // Long enough for a loaded machine to see that nothing listens.
    OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
  });
  await runChange(sandbox);
  const warnings = () => bot.logLines().filter((line) => line.includes('traces are lost'));
  await expect.poll(warnings, PROCESS_LIMITS).toHaveLength(1);
  expect(warnings()[0]).toContain('ECONNREFUSED');
  expect(await stop(bot)).toBe(0);
}

test('a collector that takes no spans delays neither a change nor a stop', () =>
  atOnce({
    'a collector that hangs': () => isIgnored(['hanging']),
    // Spans are given up after 400, and sent again after 503.
    'a collector that refuses': () => isIgnored([400, 503]),
    'an unreachable collector is reported once': isReportedOnce,
  }));

test('without its variables, the SDK of OpenTelemetry is not loaded', async () => {
  const preload = new URL('../ops/without.ts', import.meta.url).href;
  const databaseUrl = await emptyUrl('sqlite');
  const plain = await startProcessSandbox({ databaseUrl, preload });
  const bot = await plain.start();
  expect(await stop(bot)).toBe(0);

  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
  const traced = await startProcessSandbox({ databaseUrl, preload, env });
  await expect(traced.start()).rejects.toThrow('does not start');
});
