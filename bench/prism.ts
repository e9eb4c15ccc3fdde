import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parse } from 'yaml';
import { freePort } from '../sandbox/free-port.ts';
import { ApiError, Secret } from '../src/base/errors.ts';
import { alertUpdate, createAlertsClient } from '../src/servers/alerts.ts';
import { createCloudClient } from '../src/servers/cloud.ts';
import { DESCRIPTION_FILE, OPERATIONS, operationOf } from '../test/contracts/contract.ts';
import { createTime } from '../test/contracts/time.ts';
import { temporaryFolder } from '../test/temporary-files.ts';

// The clients call the ten operations of a mock server that nobody here wrote. It validates each request against
// `openapi.yaml`, and invents each reply from it.

const PRISM = '@stoplight/prism-cli@5.16.0';
const ROUNDS = Number(process.argv[2] ?? 20);

const ORGANIZATION = '7d5e2c1a-8f0b-4c62-9a55-0b2f6f1f9f10';
const ID = '1525c708-e4bc-426d-a9e7-d11b6c27caf5';

/** The description, in which replies are about what was asked: a client refuses the reply about another object. */
function description(): string {
  const text = JSON.stringify(parse(readFileSync(DESCRIPTION_FILE, 'utf8'), { merge: true }));
  const whole = JSON.parse(text);
  const ids = { Service: 'id', Endpoint: 'serviceId', Backup: 'id', Alert: 'id' };
  for (const [name, field] of Object.entries(ids)) {
    whole.components.schemas[name].properties[field] = { type: 'string', enum: [ID] };
  }
  return JSON.stringify(whole);
}

async function startPrism(file: string) {
  const port = await freePort();
  const words = ['mock', '--dynamic', '--errors', '--host', '127.0.0.1', '--port', String(port)];
  const child = spawn('npx', ['--yes', PRISM, ...words, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // Packages may not run programs while they are installed.
    env: { ...process.env, npm_config_ignore_scripts: 'true' },
    detached: true,
  });
  const stop = () => {
    // npx does not pass signals on, so the whole group is stopped.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid);
  };
  process.once('exit', stop);
  for await (const line of createInterface(child.stdout)) {
    if (line.includes('is listening')) break;
  }
  if (child.exitCode !== null) throw new Error(`${PRISM} ended with ${child.exitCode}`);
  child.stdout.resume();
  return { url: `http://127.0.0.1:${port}`, stop, ended: once(child, 'exit') };
}

/** The bodies that the commands send, as the tests have recorded them, by operation. */
function recordedBodies(): ReadonlyMap<string, readonly never[]> {
  const folder = 'test/contracts/pairs';
  const bodies = new Map<string, never[]>();
  for (const name of readdirSync(folder)) {
    const { contract } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    for (const { method, path, body } of contract.requests) {
      const operation = operationOf(method, path)?.name ?? '';
      if (body !== '')
        bodies.set(operation, [...(bodies.get(operation) ?? []), JSON.parse(body) as never]);
    }
  }
  return bodies;
}

type Call = (body: never) => Promise<{ readonly result: unknown }>;

function callsOf(url: string, { clock }: ReturnType<typeof createTime>) {
  const common = { version: 'prism', privateAddresses: true, clock, baseUrl: url };
  const cloud = createCloudClient({
    ...{ ...common, organizationId: ORGANIZATION },
    ...{ keyId: 'key', keySecret: new Secret('secret') },
  });
  const alerts = createAlertsClient({ ...common, token: new Secret('token') });
  const calls: Readonly<Record<string, Call>> = {
    'create service': cloud.createService,
    'create endpoint': (body) => cloud.createReversePrivateEndpoint(ID, body),
    scale: (body) => cloud.updateReplicaScaling(ID, body),
    'set state': (body) => cloud.updateServiceState(ID, body),
    'usage cost': () => cloud.getUsageCost({ from_date: '2026-11-01', to_date: '2026-11-30' }),
    'pipe settings': () => cloud.getPipeSettings(ID, ID),
    backup: () => cloud.getBackup(ID, ID),
    'list alerts': () => alerts.listAlerts(),
    'get alert': () => alerts.getAlert(ID),
    'update alert': async () => {
      const { result } = await alerts.getAlert(ID);
      const update = alertUpdate(result, { threshold: 250.5 });
      if (!update.ok) throw new Error(update.refusal);
      return alerts.updateAlert(ID, update.body);
    },
  };
  return { calls, close: () => Promise.all([cloud.close(), alerts.close()]) };
}

/** Null if the request was accepted and its reply read. */
async function problemOf(call: Call, body: never): Promise<string | null> {
  try {
    const { result } = await call(body);
    return result === null ? 'the reply holds no result' : null;
  } catch (error) {
    if (error instanceof ApiError) return `${error.status ?? ''} ${error.message}`;
    return error instanceof Error ? error.message : String(error);
  }
}

/** Whether the server refuses what the description does not allow. */
async function validates(url: string): Promise<boolean> {
  const path = `/v1/organizations/${ORGANIZATION}/services/${ID}/state`;
  const headers = { 'content-type': 'application/json', authorization: 'Basic a2V5OnNlY3JldA==' };
  const statusOf = async (command: string) => {
    const body = JSON.stringify({ command });
    return (await fetch(`${url}${path}`, { method: 'PATCH', headers, body })).status;
  };
  return (await statusOf('stop')) === 200 && (await statusOf('restart')) === 422;
}

const folder = mkdtempSync(join(temporaryFolder(), 'signalbox-prism-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));
const file = join(folder, 'openapi.json');
writeFileSync(file, description());
const prism = await startPrism(file);
const say = (line: string) => process.stdout.write(`${line}\n`);
const bodies = recordedBodies();
const time = createTime(new Date());
const { calls, close } = callsOf(prism.url, time);
const isValidating = await validates(prism.url);
say(`${isValidating ? 'ok    ' : 'FAILED'} requests are validated`);
let failed = isValidating ? 0 : 1;
for (const { name } of OPERATIONS) {
  const own = bodies.get(name) ?? [{} as never];
  const call = calls[name];
  const problems: string[] = [];
  for (let round = 0; call && round < ROUNDS; round += 1) {
    // Beyond the window of both budgets.
    time.pass(61_000);
    const problem = await problemOf(call, own[round % own.length] as never);
    if (problem !== null) problems.push(problem);
  }
  const isRight = call !== undefined && problems.length === 0;
  say(
    `${isRight ? 'ok    ' : 'FAILED'} ${name}: ${ROUNDS - problems.length} of ${ROUNDS} answered`,
  );
  for (const problem of new Set(problems)) say(`         ${problem}`);
  failed += isRight ? 0 : 1;
}
await close();
prism.stop();
await prism.ended;
process.exitCode = failed === 0 ? 0 : 1;
