import type { UserId } from '../../changes/change.ts';
import type { DigestOptionsConfig } from '../../config/digest-options.ts';
import type { ConfigProblem, ConfigResult } from '../../policy/problem.ts';
import type { Db } from '../../storage/engine/database.ts';
import { type Subscription, subscriptions } from '../../storage/tables/subscriptions.ts';

/** A digest that somebody wants, in the configuration or in Slack. */
export interface DigestSubscription {
  /** Under which its postings are written down, each once a day. */
  readonly key: string;
  /** What people call it by in a command; null where only the file can change it. */
  readonly id: string | null;
  readonly channel: string;
  readonly options: DigestOptionsConfig;
  readonly paused: boolean;
  readonly by: UserId | null;
  /** Slots before it are not owed. Null: from the file, which says of no day when it began. */
  readonly since: Date | null;
}

export interface SubscriptionSources {
  readonly configured: readonly DigestOptionsConfig[];
  readonly readOptions: (input: unknown) => ConfigResult<DigestOptionsConfig>;
}

export interface SubscriptionList {
  readonly all: readonly DigestSubscription[];
  /** Their options name what the configuration has no more. */
  readonly broken: readonly BrokenSubscription[];
}

export interface BrokenSubscription
  extends Pick<DigestSubscription, 'key' | 'channel' | 'by' | 'paused'> {
  readonly id: string;
  readonly problem: string;
}

export async function loadSubscriptions(
  db: Db,
  { configured, readOptions }: SubscriptionSources,
): Promise<SubscriptionList> {
  const all: DigestSubscription[] = configured.map(fromFile);
  const broken: BrokenSubscription[] = [];
  for (const one of await subscriptions(db)) {
    const reading = readOptions({ ...one.options, channel: one.channel });
    if (reading.ok) all.push(fromSlack(one, reading.value));
    else broken.push(brokenOne(one, reading.problems));
  }
  return { all, broken };
}

function brokenOne(
  { id, channel, createdBy: by, paused }: Subscription,
  problems: readonly ConfigProblem[],
): BrokenSubscription {
  return { id, key: keyOf(channel, id), channel, by, paused, problem: problemsText(problems) };
}

function keyOf(channel: string, id: string): string {
  return `${channel}|${id}`;
}

export function problemsText(problems: readonly ConfigProblem[]): string {
  return problems
    .map(({ where, problem, hint }) => {
      const word = WORDS.find(([pattern]) => pattern.test(where))?.[1] ?? where;
      return `${word} ${problem}${hint === null ? '' : ` (${hint})`}`;
    })
    .join('; ');
}

/** The keys of the file as they are typed in a command. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^on\.services/, 'service'],
  [/^on\.tags/, 'tag'],
  [/^on\.warehouses/, 'warehouse'],
  [/^timezone$/, 'zone'],
  [/^period$/, 'every'],
];

// The file has at most one digest of each period for a channel, so that these keys stay the same
// whatever else is edited: with another key, the digest of today would be posted a second time.
function fromFile(options: DigestOptionsConfig): DigestSubscription {
  const { channel, period } = options;
  const key = period === 'day' ? channel : `${channel}|${period}`;
  return { key, id: null, channel, options, paused: false, by: null, since: null };
}

function fromSlack(one: Subscription, options: DigestOptionsConfig): DigestSubscription {
  const { id, channel, paused, createdBy: by, createdAt: since } = one;
  return { key: keyOf(channel, id), id, channel, options, paused, by, since };
}

/** What to type for it: one of the file has no id, but there is one of each period for a channel. */
export function digestName({ id, channel, options }: DigestSubscription): string {
  return id ?? `${channel}:${options.period}`;
}
