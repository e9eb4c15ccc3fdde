#!/usr/bin/env node
// signalbox request: asks for a change from a pipeline. One file without dependencies, for Node 20 or later: copy it to
// where Signalbox is not installed. It asks over MCP (docs/agents.md); people in Slack decide.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const EXIT = {
  done: 0,
  failed: 1,
  wrong: 2,
  refused: 3,
  expired: 4,
  unknown: 5,
  unreached: 6,
  waiting: 7,
};

const USAGE = `signalbox request <command> [name=value …] [options]

    signalbox request service stop service=staging --reason "nightly clean-up" --wait

    --reason <text>     why, in one line; people see it as a quotation
    --key <key>         the same key is the same request for seven days, for example $GITHUB_RUN_ID
    --wait[=approved]   until it has ended, or only until it is approved
    --within <seconds>  the longest wait; 3600 if missing
    --url <address>     the address of Signalbox; SIGNALBOX_URL if missing

The credential is SIGNALBOX_TOKEN, or in GitHub Actions (permissions: id-token: write) a token for each call.

Exit code: 0 applied, or requested without --wait · 1 the server refused it · 2 wrong arguments or credential, nothing
was requested · 3 refused, rejected, cancelled or changed · 4 expired · 5 unknown outcome · 6 Signalbox was not reached:
run it again with the same key · 7 still waiting after --within
`;

const VERSION = '2026-07-28';
const CALL_WITHIN_MS = 70_000;
const WAIT_S = 50;
const RETRY_MS = 5_000;
const ENDINGS = {
  succeeded: EXIT.done,
  failed: EXIT.failed,
  rejected: EXIT.refused,
  cancelled: EXIT.refused,
  stale: EXIT.refused,
  denied: EXIT.refused,
  expired: EXIT.expired,
  unknown: EXIT.unknown,
};
/** Refusals that pass without a person. */
const PASSING = ['lookup-failed', 'rate-limited', 'server-error', 'internal-error'];
const OPTIONS = ['reason', 'key', 'within', 'url'];

class Ending extends Error {
  constructor(code, sentence) {
    super(sentence);
    this.code = code;
  }
}

function readArguments(words, env) {
  const asked = { command: [], given: {}, within: '3600', wait: null, url: env.SIGNALBOX_URL };
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    const [, option, , value] = /^--([a-z]+)(=(.*))?$/s.exec(word) ?? [];
    if (option === 'help') throw new Ending(EXIT.done, USAGE);
    else if (option === 'wait') asked.wait = value ?? 'ended';
    else if (OPTIONS.includes(option)) {
      asked[option] = value ?? words[++at];
      // An empty key, of a variable that is not set, would be none.
      const isMissing = asked[option] === undefined || (option === 'key' && asked.key === '');
      if (isMissing) throw new Ending(EXIT.wrong, `--${option} needs a value.`);
    } else if (word.startsWith('--')) throw new Ending(EXIT.wrong, `There is no option ${word}.`);
    else if (/^[\w-]+=/.test(word)) {
      const [name] = word.split('=', 1);
      if (Object.hasOwn(asked.given, name)) {
        throw new Ending(EXIT.wrong, `${name}= is given twice.`);
      }
      asked.given[name] = word.slice(name.length + 1);
    } else asked.command.push(word);
  }
  if (asked.command.length === 0) throw new Ending(EXIT.wrong, USAGE);
  const strange = asked.command.find((word) => !/^[a-z-]+$/.test(word));
  if (strange !== undefined) throw new Ending(EXIT.wrong, `There is no command with “${strange}”.`);
  if (![null, 'ended', 'approved'].includes(asked.wait)) {
    throw new Ending(EXIT.wrong, '--wait is --wait or --wait=approved.');
  }
  if (!/^\d{1,7}$/.test(asked.within)) throw new Ending(EXIT.wrong, '--within is in seconds.');
  const url = addressIn(asked.url);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname);
  if (!url || !(url.protocol === 'https:' || isLocal)) {
    throw new Ending(EXIT.wrong, 'Give the address of Signalbox: --url https://…/mcp');
  }
  return asked;
}

function addressIn(text) {
  try {
    return new URL(text ?? '');
  } catch {
    return null;
  }
}

/** GitHub's tokens are short-lived, so that each call has its own. */
async function tokenFor(url, env) {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: at, ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret } = env;
  if (!at || !secret) {
    if (env.SIGNALBOX_TOKEN) return env.SIGNALBOX_TOKEN;
    const sentence = 'Set SIGNALBOX_TOKEN, or in GitHub Actions: permissions: id-token: write.';
    throw new Ending(EXIT.wrong, sentence);
  }
  const reply = await reach(`${at}&audience=${encodeURIComponent(url)}`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  const token = parsed(reply.text)?.value;
  if (!token) throw unreached(`GitHub issued no token (status ${reply.status}).`);
  return token;
}

const unreached = (sentence) =>
  new Ending(
    EXIT.unreached,
    `${sentence} Run it again with the same --key: without one it may be requested twice.`,
  );

async function reach(url, init) {
  try {
    const signal = AbortSignal.timeout(CALL_WITHIN_MS);
    // A redirect would take the credential to another address.
    const reply = await fetch(url, { ...init, redirect: 'error', signal });
    return { ok: reply.ok, status: reply.status, text: await reply.text() };
  } catch (error) {
    throw unreached(
      `${new URL(url).host} was not reached (${error.cause?.code ?? error.cause?.message ?? error.name}).`,
    );
  }
}

/** Calls one tool in the era without sessions. Returns its result, with `isError`. */
async function call(url, name, args, env) {
  const token = await tokenFor(url, env);
  const meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'signalbox request', version: '1' },
  };
  const params = { name, arguments: args, _meta: meta };
  const reply = await reach(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  const body = parsed(reply.text);
  const why = body?.error?.message ?? `Status ${reply.status}.`;
  if (reply.status === 429 || reply.status >= 500) throw unreached(why);
  if (!reply.ok || !body?.result) throw new Ending(EXIT.wrong, why);
  return { ...body.result.structuredContent, isError: body.result.isError === true };
}

function parsed(text) {
  try {
    return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
  } catch {
    return null;
  }
}

function lineOf({ summary, card, data }) {
  const details = [
    data?.problem,
    data?.text,
    ...(data?.problems ?? []),
    data?.rejection,
    data?.error,
  ];
  return [summary, ...details, card].filter(Boolean).join(' ');
}

/** Null: no answer for now. What was requested still waits, also when the credential has expired meanwhile. */
async function waitFor(url, asked, env, until) {
  try {
    const shown = await call(url, 'request_wait', asked, env);
    if (PASSING.includes(shown.refusal)) throw unreached(shown.summary);
    return shown;
  } catch (error) {
    if (error.code === EXIT.unreached && Date.now() + RETRY_MS < until) return null;
    throw error.code === EXIT.wrong ? unreached(error.message) : error;
  }
}

/** Returns the exit code of the state, or null while the wait goes on. */
function endingOf({ state, ended }, wait) {
  if (ended || state === 'unknown') return ENDINGS[state] ?? EXIT.unknown;
  if (wait === null) return EXIT.done;
  return wait === 'approved' && ['approved', 'executing'].includes(state) ? EXIT.done : null;
}

export async function run(words, env, print) {
  try {
    const { command, given, reason, key, wait, within, url } = readArguments(words, env);
    const until = Date.now() + Number(within) * 1_000;
    const beside = { ...(reason && { reason }), ...(key && { key }) };
    let shown = await call(url, command.join('_'), { ...given, ...beside }, env);
    print(lineOf(shown));
    if (shown.noEffect) return EXIT.done;
    if (PASSING.includes(shown.refusal)) return EXIT.unreached;
    if (shown.isError) return shown.refusal ? EXIT.refused : EXIT.wrong;
    // A command that only reads.
    if (!shown.change) {
      print(JSON.stringify(shown.data));
      return EXIT.done;
    }
    for (;;) {
      const code = endingOf(shown, wait);
      if (code !== null) return code;
      const left = Math.ceil((until - Date.now()) / 1_000);
      if (left <= 0) return EXIT.waiting;
      const asked = { id: shown.change, seconds: Math.min(WAIT_S, left), state: shown.state };
      const next = await waitFor(url, asked, env, until);
      if (next === null) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      else if (next.isError) {
        print(lineOf(next));
        return EXIT.refused;
      } else {
        if (next.state !== shown.state) print(lineOf(next));
        shown = next;
      }
    }
  } catch (error) {
    if (!(error instanceof Ending)) throw error;
    print(error.message);
    return error.code;
  }
}

const isProgram =
  process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isProgram) {
  const print = (line) => process.stdout.write(`${line.trimEnd()}\n`);
  process.exitCode = await run(process.argv.slice(2), process.env, print);
}
