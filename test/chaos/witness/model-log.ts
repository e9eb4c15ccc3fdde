import type { Engine, Server } from './database.ts';
import type { Mark } from './slack.ts';

/** The facts of an event. Each type uses some of them. */
export interface Facts {
  readonly by?: string;
  readonly target?: string;
  readonly need?: number;
  readonly press?: string;
  readonly ts?: string;
  readonly nonce?: string;
  readonly until?: number;
  readonly expires?: number;
  readonly change?: string;
  readonly text?: string;
  /** Hashes of marks of a lost history. The log has answered them. */
  readonly foreign?: readonly string[];
}

export interface Draft {
  readonly stream: string;
  readonly type: string;
  readonly facts: Facts;
}

export interface Event extends Draft {
  readonly seq: number;
  readonly version: number;
  readonly at: number;
  readonly prev: string;
  readonly hash: string;
}

/** The log, which is replaced with each commit and never changed. */
interface Stored {
  readonly events: readonly Event[];
  /** The events of each stream, in their order. */
  readonly streams: ReadonlyMap<string, readonly Event[]>;
}

/** What a transaction of the model can do. */
export interface ModelTx extends Stored {
  readonly now: number;
  readonly timeline: number;
  append(draft: Draft): Event;
  /** Stands for the table of jobs: true if nobody else has this work for now. */
  lease(key: string, ms: number): boolean;
}

/** The database of the model: a list of events, and leases, which carry nothing. */
export class ModelEngine implements Engine<ModelTx> {
  #log: Stored = { events: [], streams: new Map() };
  readonly #leases = new Map<string, number>();
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  async transaction<T>(work: (tx: ModelTx) => T | Promise<T>): Promise<T> {
    let { events, streams } = this.#log;
    const now = this.#server.now();
    const append = (draft: Draft) => {
      const last = events.at(-1);
      const earlier = streams.get(draft.stream) ?? [];
      const version = earlier.length + 1;
      const link = { seq: (last?.seq ?? 0) + 1, version, at: now, prev: last?.hash ?? '' };
      const event = { ...draft, ...link, hash: hashOf({ ...draft, ...link }) };
      events = [...events, event];
      streams = new Map(streams).set(draft.stream, [...earlier, event]);
      return event;
    };
    const lease = (key: string, ms: number) => {
      if ((this.#leases.get(key) ?? 0) > now) return false;
      this.#leases.set(key, now + ms);
      return true;
    };
    const result = await work({
      get events() {
        return events;
      },
      get streams() {
        return streams;
      },
      ...{ now, timeline: this.#server.timeline(), append, lease },
    });
    this.#log = { events, streams };
    return result;
  }

  save(): Stored {
    return this.#log;
  }

  load(saved: unknown): void {
    this.#log = saved as Stored;
  }

  size(): number {
    return this.#log.events.length;
  }

  cut(pick: <T>(items: readonly T[]) => T | undefined): void {
    const { events, streams } = this.#log;
    const ends = [...streams.values()].map((stream) => stream.at(-1));
    const kinds = ['change', 'freeze', 'target'];
    const kind = pick(kinds) ?? '';
    const last = events.at(-1);
    const end = pick(ends.filter((event) => event !== last && event?.stream.startsWith(kind)));
    const kept = events.filter((event) => event !== end);
    this.#log = { events: kept, streams: Map.groupBy(kept, ({ stream }) => stream) };
  }
}

/** Stands for SHA-256 and the signature: nobody forges events in the simulator (cyrb53). */
function hashOf(event: Omit<Event, 'hash'>): string {
  const text = JSON.stringify([
    ...[event.seq, event.stream, event.version, event.type],
    ...[event.at, event.prev, event.facts],
  ]);
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return `${(a >>> 0).toString(36)}${(b >>> 0).toString(36)}`;
}

/** What a stream of a change or a freeze says now. */
export interface Subject {
  readonly stream: string;
  readonly state: string;
  readonly events: readonly Event[];
  readonly by: string;
  readonly target: string;
  readonly need: number;
  readonly approvals: readonly string[];
  readonly expires: number;
  /** Its message in Slack. */
  readonly ts: string | null;
  readonly claim: { readonly nonce: string; readonly until: number } | null;
  readonly presses: ReadonlySet<string>;
}

const CHANGES_STATE: Readonly<Record<string, string>> = {
  rejected: 'rejected',
  cancelled: 'cancelled',
  expired: 'expired',
  stale: 'stale',
  'not-sent': 'approved',
  succeeded: 'succeeded',
  failed: 'failed',
  unknown: 'unknown',
  lifted: 'lifted',
  created: 'frozen',
  found: 'frozen',
  scheduled: 'scheduled',
  paused: 'paused',
  resumed: 'scheduled',
};

export function fold(events: readonly Event[]): Subject | null {
  const [first] = events;
  if (!first) return null;
  let state = '';
  let ts: string | null = null;
  let claim: Subject['claim'] = null;
  const approvals: string[] = [];
  const presses = new Set<string>();
  const { by = '', target = '', need = 0, expires = 0 } = first.facts;
  for (const { type, facts } of events) {
    if (facts.press) presses.add(facts.press);
    if (facts.ts) ts = facts.ts;
    if (type === 'approved' && facts.by) approvals.push(facts.by);
    if (type === 'claimed') claim = { nonce: facts.nonce ?? '', until: facts.until ?? 0 };
    if (type === 'not-sent') claim = null;
    if (type === 'requested') state = need === 0 ? 'approved' : 'pending';
    else if (type === 'approved' && approvals.length >= need) state = 'approved';
    else if (type === 'claimed') state = 'executing';
    else if (type === 'resolved') state = facts.text ?? '';
    else state = CHANGES_STATE[type] ?? state;
  }
  return {
    ...{ stream: first.stream, state, events, by, target, need, approvals },
    ...{ expires, ts, claim, presses },
  };
}

export function markOf(events: readonly Event[]): Mark {
  const last = events.at(-1);
  if (!last) throw new Error('a stream without events has no mark');
  return { stream: last.stream, version: last.version, hash: last.hash };
}

/** Whether these events do not contain the mark, and have not answered it. */
export function isForeign(events: readonly Event[], mark: Mark): boolean {
  if (events[mark.version - 1]?.hash === mark.hash) return false;
  return !events.some(({ facts }) => facts.foreign?.includes(mark.hash));
}
