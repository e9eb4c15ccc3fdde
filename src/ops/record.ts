// The recorder (SIGNALBOX_RECORD): each payload, call and reply as a line of a file, without what it says about people
// and things. A word that Signalbox does not use itself gets another one of the same form, the same one each time, so
// that a replay reads what belongs together. The key of these words is never written. What Signalbox sends is masked.

import { createHmac, randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { parse } from 'yaml';
import type { RecordExchange } from '../base/http.ts';
import { type Command, fieldsOf } from '../commands/index.ts';
import { VERBS } from '../domain/change.ts';

interface RecorderOptions {
  readonly folder: string;
  /** The text of the configuration file. */
  readonly file: string;
  readonly prefix: string;
  readonly commands: readonly Command[];
  readonly now: () => Date;
  readonly log: Logger;
}

/** Opens a folder of its own for this process, for `record.jsonl` and `signalbox.json`. Throws if it cannot be written. */
export function openRecorder(options: RecorderOptions): RecordExchange {
  const { now, log, prefix, commands } = options;
  const redact = createRedaction(commands, randomBytes(32));
  const folder = join(options.folder, now().toISOString().replaceAll(':', '-'));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const write = (name: string, value: unknown) =>
    appendFileSync(join(folder, name), `${JSON.stringify(value)}\n`, { mode: 0o600 });
  write('signalbox.json', { prefix, file: redact.arrived(parse(options.file)) });
  log.warn(
    { folder },
    'every payload and reply is recorded, redacted: unset SIGNALBOX_RECORD after the test',
  );
  let isOpen = true;
  return ({ door, call, sent, status, headers = {}, arrived }) => {
    if (!isOpen) return;
    try {
      write('record.jsonl', {
        ...{ at: now(), door, call: redact.path(call), sent: redact.sent(sent), status },
        headers: Object.fromEntries(Object.entries(headers).filter(([name]) => HEADERS.test(name))),
        arrived: redact.arrived(arrived),
      });
    } catch (error) {
      isOpen = false;
      log.error({ err: error }, 'the recording ended');
    }
  };
}

/** Of Slack and the APIs, what a client reads. */
const HEADERS = /^(retry-after|x-oauth-scopes|x-total-count|(x-)?ratelimit-\w+)$/i;
/** Values of these keys are words of a protocol. */
const ENUMS = new Set(
  `type subtype error state status provider region tier plan thresholdType interval command
  protocol profile releaseChannel timezone tz at period days currency style`.split(/\s+/),
);
const PATHS = new Set(
  `v1 v2 api organizations services state usageCost pipes settings backups alerts replicaScaling webhooks team
  pipesReversePrivateEndpoints scalingSchedule activities saved-searches dashboards whoami keys quotas`.split(
    /\s+/,
  ),
);
const SECRETS =
  /token|secret|passw|passphrase|credential|api_?key|private_?key|signature|authorization|cookie|ticket|phone|email|skype|(^|_)(pin|otp)$/i;
/** Of what Signalbox sends, these name something that comes back; all other text is masked. */
const NAMED = /(^|_)(id|ids|ts|channel|user|users|usergroup|value|hash|metadata)$/;
const TIMES =
  'at in for until from to by vs not now today tonight tomorrow yesterday noon daily weekdays';
const OTHERS =
  'archives com change command incident undo details edit menu http https hooks slack required allowed extended';
const DAYS = 'mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday';

/** In this order: a time, a UUID, an address, a word. */
const PARTS =
  /\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\d+(?:\.\d+){3}|[\p{L}\p{N}]+/giu;

function createRedaction(commands: readonly Command[], key: Buffer) {
  const named = commands.flatMap(({ name, args }) => [
    name,
    ...fieldsOf(args).map((field) => field.name),
  ]);
  const own = [...named, ...VERBS, TIMES, OTHERS, DAYS];
  const kept = new Set(own.join(' ').split(/[^a-z]+/i));
  const others = new Map<string, string>();
  const taken = new Set<string>();

  /** Another word of the same length and form; two words never get the same one. */
  function other(word: string): string {
    const known = others.get(word);
    if (known !== undefined) return known;
    const isHex = /^[0-9a-f]{8,}$/.test(word);
    for (let turn = 0; ; turn += 1) {
      const bytes = createHmac('sha512', key).update(`${turn} ${word}`).digest();
      const at = (index: number, size: number) => (bytes[index % bytes.length] ?? 0) % size;
      const found = [...word].map((letter, index) => {
        if (/\p{N}/u.test(letter)) return String(at(index, 10));
        return String.fromCharCode(97 + at(index, isHex ? 6 : 26));
      });
      const text = found.join('');
      if (taken.has(text) && turn < 50) continue;
      taken.add(text);
      others.set(word, text);
      return text;
    }
  }

  function redacted(part: string): string {
    if (/^\d{4}-\d\d-\d\d/.test(part) || kept.has(part.toLowerCase())) return part;
    // A number, a size or a time of a message: an id is longer.
    if (/^(\d{1,11}[a-z]{0,3}|p\d{16})$/i.test(part)) return part;
    if (/^[\d.]+$/.test(part) && part.includes('.'))
      return part.replace(/\d+/g, (octet) => String(Number(other(`ip ${octet}`).slice(3)) % 256));
    if (part.length === 36 && part.includes('-'))
      return uuidOf(other(part.toLowerCase().replaceAll('-', '')));
    const plain = other(part.toLowerCase());
    const cased = [...plain].map((letter, at) =>
      /\p{Lu}/u.test(part[at] ?? '') ? letter.toUpperCase() : letter,
    );
    // The first letter of an id of Slack names its kind.
    return /^[A-Z][A-Z0-9]{7,}$/.test(part)
      ? `${part[0]}${cased.slice(1).join('')}`
      : cased.join('');
  }

  const uuidOf = (hex: string) => hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-4$3-8$4-');

  const text = (value: string) => value.replace(PARTS, redacted);
  const mask = (value: string) =>
    value.replace(/[\p{L}\p{N}]+/gu, (word) => {
      if (kept.has(word.toLowerCase())) return word;
      // An id may have digits in other places the next time.
      if (/^[A-Z0-9]{6,}$/.test(word)) return 'X'.repeat(word.length);
      return word.replace(/\p{L}|\p{N}/gu, (one) =>
        /\p{Lu}/u.test(one) ? 'X' : /\p{N}/u.test(one) ? '9' : 'x',
      );
    });

  function walk(
    value: unknown,
    key: string,
    leaf: (value: string, key: string) => string,
  ): unknown {
    if (typeof value === 'number' && SECRETS.test(key)) return '[removed]';
    if (typeof value === 'string') {
      // A form has its structures as text.
      const inner = /^(blocks|view)$/.test(key) ? structureIn(value) : null;
      if (inner !== null) return walk(inner, key, leaf);
      if (SECRETS.test(key)) return '[removed]';
      return ENUMS.has(key) && /^[\w/-]{1,40}$/.test(value) && !/[A-Z]\w*\d|\d{6}/.test(value)
        ? value
        : leaf(value, key);
    }
    if (Array.isArray(value)) return value.map((each) => walk(each, key, leaf));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([name, inner]) => {
      const isField = /^[a-z][a-zA-Z_]*(\d[a-zA-Z_]*)?$/.test(name) && key !== 'roles';
      return [isField ? name : text(name), walk(inner, name, leaf)];
    });
    return Object.fromEntries(entries);
  }

  return {
    arrived: (value: unknown) => walk(value, '', text),
    sent: (value: unknown) =>
      walk(value, '', (each, name) => (NAMED.test(name) ? text(each) : mask(each))),
    /** A method of Slack has no slash; the words of a path that the APIs do not name are ids. */
    path: (call: string) =>
      call.replace(/(?<=\/)[^/]+/g, (part) => (PATHS.has(part) ? part : text(part))),
  };
}

function structureIn(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
