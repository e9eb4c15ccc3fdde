import type { Api } from './api.ts';
import { AUDIT, type Payload, type Press } from './bot.ts';
import type { Oracle } from './oracle.ts';
import type { Message, Slack } from './slack.ts';
import { Owner, type World } from './world.ts';

const NAMES = ['ada', 'ben', 'cleo', 'dan'];
const TARGETS = ['t1', 't2', 't3'];
const WAITING: ReadonlySet<string> = new Set(['pending', 'approved', 'unknown', 'frozen']);
/** Between a look at a card and the press. */
const THINKING_MS = 60_000;

/** Four people who request, look at cards, and press what they saw there, which may be gone when they press it. */
export class People {
  readonly #world: World;
  readonly #slack: Slack;
  readonly #api: Api;
  readonly #oracle: Oracle;
  /** Hands a payload to one of the processes. It resolves when Slack got its answer. */
  readonly #deliver: (payload: Payload) => Promise<void>;
  /** People take turns of their own. */
  readonly #owner = new Owner('people');
  #count = 0;
  requests = 0;
  presses = 0;
  /** Everything that reached Slack to be delivered. */
  payloads = 0;

  constructor(
    world: World,
    slack: Slack,
    api: Api,
    oracle: Oracle,
    deliver: (payload: Payload) => Promise<void>,
  ) {
    this.#world = world;
    this.#slack = slack;
    this.#api = api;
    this.#oracle = oracle;
    this.#deliver = deliver;
  }

  request(need = this.#world.pick([0, 1, 1, 2, 2]) ?? 1): void {
    const subject = `change/${++this.#count}`;
    const by = this.#someone();
    const target = this.#world.pick(TARGETS) ?? '';
    this.requests++;
    this.#oracle.requested(subject, by, target, need);
    this.#send({ kind: 'request', subject, by, target, need });
  }

  freeze(): void {
    this.#send({ kind: 'freeze', subject: `freeze/${++this.#count}`, by: this.#someone() });
  }

  schedule(): void {
    const subject = `schedule/${++this.#count}`;
    const by = this.#someone();
    const target = this.#world.pick(TARGETS) ?? '';
    this.#oracle.requested(subject, by, target, 0);
    this.#send({ kind: 'schedule', subject, by, target });
  }

  /** One person looks at a card, thinks, and presses a button that was there. */
  async press(): Promise<void> {
    const cards = this.#slack.messages.filter((m) => m.channel !== AUDIT && !m.deleted);
    const open = cards.filter(({ shown }) => WAITING.has(shown.state));
    const message = this.#world.pick(this.#world.chance(0.8) ? open : cards);
    if (!message) return;
    this.#oracle.saw(message);
    const { ts, shown } = message;
    const by = this.#someone();
    const verb = this.#verb(message, by);
    if (!verb) return;
    await this.#world.turn(this.#owner, Math.floor(this.#world.random() ** 3 * THINKING_MS));
    const { subject, plan, mark } = shown;
    const id = String(++this.#count);
    this.presses++;
    this.#send({ kind: 'press', id, verb, subject, by, ts, plan, seen: mark });
  }

  /** People do what the system waits for: they settle unknown outcomes and lift freezes. */
  settle(): void {
    for (const message of this.#slack.messages) {
      const { shown, ts, deleted, channel } = message;
      if (!deleted && channel !== AUDIT) this.#oracle.saw(message);
      const isOpen = shown.state === 'unknown' || shown.state === 'frozen';
      if (!isOpen || deleted || channel === AUDIT) continue;
      const verb = shown.state === 'frozen' ? 'lift' : this.#outcome(shown.subject);
      const id = String(++this.#count);
      const { subject, plan, mark } = shown;
      this.#send({ kind: 'press', id, verb, subject, by: 'ada', ts, plan, seen: mark });
    }
  }

  #verb({ shown }: Message, by: string): Press['verb'] | null {
    const world = this.#world;
    const isRequester = this.#oracle.changes.get(shown.subject)?.requester === by;
    if (shown.state === 'pending') {
      if (isRequester) return world.chance(0.15) ? 'cancel' : null;
      return world.chance(0.9) ? 'approve' : 'reject';
    }
    if (shown.state === 'approved') return isRequester && world.chance(0.4) ? 'cancel' : null;
    if (shown.state === 'unknown') return world.chance(0.5) ? this.#outcome(shown.subject) : null;
    if (shown.state === 'frozen') return world.chance(0.5) ? 'lift' : null;
    if (shown.state === 'scheduled') return world.chance(0.5) ? 'pause' : null;
    if (shown.state === 'paused') return this.#oracle.pausedBy.has(shown.subject) ? null : 'resume';
    return null;
  }

  /** They look at the server. */
  #outcome(change: string): Press['verb'] {
    return this.#api.wasApplied(change) ? 'happened' : 'did not happen';
  }

  #send(payload: Payload): void {
    const { now } = this.#world;
    this.#oracle.pressed(payload);
    this.payloads++;
    const deliver = () =>
      this.#deliver(payload).then(
        () => this.#oracle.acknowledged(payload, now),
        () => {},
      );
    void deliver();
    // Slack delivers again when the answer was too late for it.
    if (this.#world.chance(0.1)) void deliver();
  }

  #someone(): string {
    return this.#world.pick(NAMES) ?? '';
  }
}
