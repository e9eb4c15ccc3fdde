import { expect, test } from 'vitest';
import type { Env } from '../../src/ops/environment.ts';
import { casesIn } from '../harness/cases.ts';
import { ENV, EXAMPLE, envOf, load, said } from './fixtures.ts';

/** Null stands for a variable that is not set. */
const REFUSED = casesIn(`
  the bot token is missing: { SLACK_BOT_TOKEN: null }
    SLACK_BOT_TOKEN: is not set (the bot token, xoxb-…, from the page “OAuth & Permissions”)
  the bot token is set to nothing: { SLACK_BOT_TOKEN: "" }
    SLACK_BOT_TOKEN: is not set (the bot token, xoxb-…, from the page “OAuth & Permissions”)
  the two tokens are exchanged: { SLACK_BOT_TOKEN: xapp-1-canary }
    SLACK_BOT_TOKEN: must begin with xoxb- (the bot token, xoxb-…, from the page “OAuth & Permissions”)
  the app token is no app token: { SLACK_APP_TOKEN: xoxb-1-canary }
    SLACK_APP_TOKEN: must begin with xapp- (the app-level token, xapp-…)
  neither mode of connecting is set up: { SLACK_APP_TOKEN: null }
    SLACK_APP_TOKEN: is not set (SLACK_APP_TOKEN for Socket Mode, or SLACK_SIGNING_SECRET for HTTP)
  the command prefix has capitals: { SLACK_COMMAND_PREFIX: DB- }
    SLACK_COMMAND_PREFIX: must be at most 22 lower-case letters, digits and dashes
  the port is a word: { PORT: http }
    PORT: must be a port number
  the port is beyond the last: { PORT: "65536" }
    PORT: must be at most 65535
  the cloud API would be called in clear: { CLOUD_API_URL: http://api.example.com }
    CLOUD_API_URL: must begin with https:// (http is allowed for this machine only)
  an address only looks like this machine: { CLOUD_API_URL: http://127.0.0.1.example.com }
    CLOUD_API_URL: must begin with https:// (http is allowed for this machine only)
  an address holds a password: { CLOUD_API_URL: https://canary:canary@api.example.com }
    CLOUD_API_URL: must not contain a user or a password
  an address holds a query: { SLACK_API_URL: https://slack.example.com/api?token=canary }
    SLACK_API_URL: must not contain a query or a fragment
  an address is none: { ALERTS_API_URL: alerts.example.com }
    ALERTS_API_URL: must be an address (https://…)
  an address is of another kind: { ALERTS_API_URL: file:///etc/passwd }
    ALERTS_API_URL: must begin with https:// (http is allowed for this machine only)
  the cloud API has no key: { CLOUD_API_KEY_ID: null }
    CLOUD_API_KEY_ID: is not set (the id of an API key, from the cloud console)
  a secret was pasted with a line break: { CLOUD_API_KEY_SECRET: "canary\\ncanary" }
    CLOUD_API_KEY_SECRET: must not contain spaces or line breaks
  the alerts API has an address and no token: { ALERTS_API_TOKEN: null }
    ALERTS_API_TOKEN: is not set, but ALERTS_API_URL is (set both, or neither to switch off alert commands)
  the alerts API has a token and no address: { ALERTS_API_URL: null }
    ALERTS_API_URL: is not set, but ALERTS_API_TOKEN is (set both, or neither to switch off alert commands)
  the database is of an unknown kind: { DATABASE_URL: mysql://canary }
    DATABASE_URL: must begin with file: or postgres://
  the key is too short: { SIGNALBOX_KEY: BwcHBwcHBwcHBwcHBwcHBw== }
    SIGNALBOX_KEY: must be 32 bytes in base64 (openssl rand -base64 32)
  the key is written in hexadecimal digits: { SIGNALBOX_KEY: "0707070707070707070707070707070707070707070707070707070707070707" }
    SIGNALBOX_KEY: must be 32 bytes in base64 (openssl rand -base64 32)
  the key has characters that decoding would pass over: { SIGNALBOX_KEY: BwcHBwcHBwcHBwcHBwcH  BwcHBwcHBwcHBwcHBwcHBwc= }
    SIGNALBOX_KEY: must be 32 bytes in base64 (openssl rand -base64 32)
  there is no key for PostgreSQL: { SIGNALBOX_KEY: null, DATABASE_URL: "postgres://127.0.0.1/signalbox" }
    SIGNALBOX_KEY: is not set, which PostgreSQL needs (32 bytes: openssl rand -base64 32)
  a previous key is too short: { SIGNALBOX_PREVIOUS_KEYS: "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=,BwcH" }
    SIGNALBOX_PREVIOUS_KEYS: must be keys of 32 bytes in base64, separated by commas (earlier keys)
  a secret is in a variable of a few words: { LOG_LEVEL: xoxb-canary }
    LOG_LEVEL: is not a known word (one of: fatal, error, warn, info, debug, trace, silent)
  both ports are the same: { PORT: "3100", OPS_PORT: "3100" }
    OPS_PORT: must not be the same as PORT (set another port, or remove OPS_PORT to use PORT for both)
  the probes have the default port: { OPS_PORT: "3000" }
    OPS_PORT: must not be the same as PORT (set another port, or remove OPS_PORT to use PORT for both)
  a stop may take no time: { STOP_WITHIN_S: "1" }
    STOP_WITHIN_S: must be from 10 to 600
  a stop may take for ever: { STOP_WITHIN_S: "1e9" }
    STOP_WITHIN_S: must be a whole number of seconds
  a variable of ours is misspelt: { SIGNALBOX_CONFG: ./policy.yaml }
    SIGNALBOX_CONFG: is not a known variable (did you mean SIGNALBOX_CONFIG?)
  a secret is given twice: { CLOUD_API_KEY_SECRET_FILE: /run/secret }
    CLOUD_API_KEY_SECRET: is set twice, here and by CLOUD_API_KEY_SECRET_FILE (remove one of them)
  the file of a secret is not there: { SLACK_BOT_TOKEN: null, SLACK_BOT_TOKEN_FILE: /run/nothing }
    SLACK_BOT_TOKEN: its file, named by SLACK_BOT_TOKEN_FILE, cannot be read (ENOENT) (correct SLACK_BOT_TOKEN_FILE or the file)
  the file of a secret is empty: { SLACK_APP_TOKEN: null, SLACK_APP_TOKEN_FILE: /run/empty }
    SLACK_APP_TOKEN: its file, named by SLACK_APP_TOKEN_FILE, is empty (correct SLACK_APP_TOKEN_FILE or the file)
  the configuration is not there: { SIGNALBOX_CONFIG: ./elsewhere.yaml }
    SIGNALBOX_CONFIG: ./elsewhere.yaml cannot be read (ENOENT) (run signalbox init, or copy signalbox.example.yaml)
`);

test.for(REFUSED)('the start is refused when %s', ([, env, problem]) => {
  const problems = said(envOf(env), EXAMPLE, { '/run/secret': 'canary', '/run/empty': '\n' });
  expect(problems).toEqual([problem]);
  expect(problems.join()).not.toContain('canary');
});

const DEFAULTS = {
  slack: { signingSecret: null, apiUrl: null, commandPrefix: '' },
  ...{ port: 3000, logLevel: 'info', stopWithinMs: 50_000 },
};
const inClear = (url: string) => ({ CLOUD_API_URL: url, ALERTS_API_URL: url, SLACK_API_URL: url });

test.for<[string, Env, object]>([
  ['nothing else', {}, DEFAULTS],
  ['ports that the system chooses', { PORT: '0', OPS_PORT: '0' }, { port: 0, opsPort: 0 }],
  ['no alerts API', { ALERTS_API_URL: undefined, ALERTS_API_TOKEN: undefined }, { alerts: null }],
  [
    'this machine in clear',
    inClear('http://127.0.0.1:8/x'),
    { cloud: { url: 'http://127.0.0.1:8/x' } },
  ],
  ['localhost in clear', inClear('http://localhost:8'), { cloud: { url: 'http://localhost:8' } }],
  ['IPv6 in clear', inClear('http://[::1]:8080'), { cloud: { url: 'http://[::1]:8080' } }],
])('a start accepts %s', ([, env, config]) => {
  expect(load(env)).toMatchObject({ ok: true, config });
});

test.for([
  undefined,
  'file:./other.db',
  'postgres://bot@db.example.com/bot?sslmode=verify-full',
  'postgresql://bot@127.0.0.1/bot',
])('a database may be %s', (url) => {
  const loaded = load({ DATABASE_URL: url });
  expect(loaded.ok && loaded.config.databaseUrl.reveal()).toBe(url ?? 'file:./signalbox.db');
});

test('secrets are read from files and variables, without the white space around them', () => {
  const direct = { SIGNALBOX_KEY: `${ENV.SIGNALBOX_KEY}\r\n`, SLACK_APP_TOKEN: ' xapp-1-canary\n' };
  const file = { SLACK_BOT_TOKEN: ' ', SLACK_BOT_TOKEN_FILE: '/run/token' };
  const loaded = load({ ...direct, ...file }, { '/run/token': 'xoxb-from-file\n' });
  expect(loaded.ok && loaded.config.slack.botToken.reveal()).toBe('xoxb-from-file');
  expect(loaded.ok && loaded.config.slack.appToken?.reveal()).toBe('xapp-1-canary');
});

test('no secret shows in the configuration when it is logged', () => {
  const loaded = load({ DATABASE_URL: 'postgres://bot:canary@db.example.com/bot' });
  expect(loaded.ok).toBe(true);
  expect(JSON.stringify(loaded)).not.toContain('canary');
});

test("variables of other programs are left alone, even where they begin like Slack's", () => {
  expect(said({ SLACK_WEBHOOK: 'x', CLOUD_REGION: 'eu', HOME: '/root' })).toEqual([]);
});
