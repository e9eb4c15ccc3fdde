import { call, type Fate, fateOf, type Owner, Unanswered, type World } from './world.ts';

/** The last event of a stream that a message shows. Version 0: the log of this process does not know the subject. */
export interface Mark {
  readonly stream: string;
  readonly version: number;
  readonly hash: string;
}

/** What people see of a subject (a change, a freeze, a schedule, a digest) in a message of its own. */
export interface Shown {
  readonly subject: string;
  readonly state: string;
  /** What an approval of this message is bound to. */
  readonly plan: string;
  readonly mark: Mark;
}

/** A message in a thread. `attempt` is the nonce of a claim. */
export interface Note {
  readonly text: string;
  readonly mark: Mark;
  readonly attempt: string | null;
}

export interface Message {
  readonly channel: string;
  readonly ts: string;
  readonly at: number;
  shown: Shown;
  deleted: boolean;
  readonly notes: (Note & { readonly ts: string })[];
}

export interface Thread {
  readonly shown: Shown | 'deleted';
  /** In the one order that all readers see. */
  readonly notes: readonly (Note & { readonly ts: string })[];
}

export interface Page {
  readonly messages: readonly { readonly ts: string; readonly shown: Shown }[];
  readonly next: number | null;
}

/** The methods throw `Unanswered`, `RateLimited`, or `NoMessage`. */
export interface SlackPort {
  /** `ts` of the message. */
  post(channel: string, shown: Shown): Promise<string>;
  /** The last writer wins. */
  update(ts: string, shown: Shown): Promise<void>;
  /** `ts` of the note, at the end of the thread. */
  reply(ts: string, note: Note): Promise<string>;
  /** The message and its whole thread in one call. */
  thread(ts: string): Promise<Thread>;
  /** Own messages of a channel, newest first, from a cursor on. */
  history(channel: string, cursor: number): Promise<Page>;
}

export class NoMessage extends Error {}

export class RateLimited extends Error {
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super('ratelimited');
    this.retryAfter = retryAfter;
  }
}

const PAGE = 10;
const LIMITED_MS = 20_000;
const READ_FAULTS: readonly Fate[] = ['lost', 'unanswered'];
const WRITE_FAULTS: readonly Fate[] = ['lost', 'late', 'late', 'unanswered'];

export class Slack {
  faults = 0;
  downUntil = 0;
  /** All messages, oldest first. */
  readonly messages: Message[] = [];
  /** Every drawing that was accepted. */
  onShown: (message: Message) => void = () => {};
  /** Every call that had its effect, before its answer. */
  onCall: (owner: Owner, method: string) => void = () => {};
  readonly #world: World;
  readonly #limitedUntil = new Map<string, number>();
  #count = 0;

  constructor(world: World) {
    this.#world = world;
  }

  connect(owner: Owner): SlackPort {
    const read = <T>(method: string, act: () => T) => this.#call(owner, method, READ_FAULTS, act);
    const write = <T>(method: string, act: () => T) => this.#call(owner, method, WRITE_FAULTS, act);
    return {
      post: (channel, shown) => write('post', () => this.#post(channel, shown)),
      update: (ts, shown) => write('update', () => this.#draw(this.#message(ts), shown)),
      reply: (ts, note) =>
        write('reply', () => {
          const message = this.#message(ts);
          const added = { ...note, ts: this.#nextTs() };
          message.notes.push(added);
          return added.ts;
        }),
      thread: (ts) =>
        read('thread', () => {
          const message = this.messages.find((other) => other.ts === ts);
          if (!message) throw new NoMessage('message_not_found');
          const shown = message.deleted ? 'deleted' : message.shown;
          return { shown, notes: [...message.notes] };
        }),
      history: (channel, cursor) => read('history', () => this.#page(channel, cursor)),
    };
  }

  #call<T>(owner: Owner, method: string, faults: readonly Fate[], act: () => T): Promise<T> {
    const { now } = this.#world;
    const fate = fateOf(this.#world, this.faults, faults);
    if (this.#world.chance(this.faults / 20)) {
      this.#limitedUntil.set(method, now + this.#world.below(LIMITED_MS));
    }
    return call(this.#world, owner, fate, () => {
      if (this.#world.now < this.downUntil) throw new Unanswered('Slack is down');
      const wait = (this.#limitedUntil.get(method) ?? 0) - this.#world.now;
      if (wait > 0 && this.faults > 0) throw new RateLimited(wait);
      const result = act();
      this.onCall(owner, method);
      return result;
    });
  }

  #post(channel: string, shown: Shown): string {
    const place = { channel, ts: this.#nextTs(), at: this.#world.now };
    const message: Message = { ...place, shown, deleted: false, notes: [] };
    this.messages.push(message);
    this.onShown(message);
    return message.ts;
  }

  #draw(message: Message, shown: Shown): void {
    message.shown = shown;
    this.onShown(message);
  }

  #message(ts: string): Message {
    const message = this.messages.find((other) => other.ts === ts && !other.deleted);
    if (!message) throw new NoMessage('message_not_found');
    return message;
  }

  #page(channel: string, cursor: number): Page {
    const own = this.messages.filter((m) => m.channel === channel && !m.deleted).toReversed();
    const messages = own.slice(cursor, cursor + PAGE).map(({ ts, shown }) => ({ ts, shown }));
    return { messages, next: cursor + PAGE < own.length ? cursor + PAGE : null };
  }

  #nextTs(): string {
    return String(++this.#count).padStart(6, '0');
  }
}
