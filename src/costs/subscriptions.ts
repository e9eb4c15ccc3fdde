/** The digests of all channels: those of signalbox.yaml and those that were added in Slack. */
import type { ConfigProblem, ConfigResult } from '../base/problem.ts';
import type { UserId } from '../domain/change.ts';
import type { LoggedSubscription } from '../domain/log-events.ts';
import { inForce } from '../log/index.ts';
import type { DigestOptions } from './config.ts';

/** A digest that was added in the configuration file or in Slack. */
export interface DigestSubscription {
  /** The key of its post records, one per day. */
  readonly key: string;
  /** The id in commands; null for a digest of the configuration file. */
  readonly id: string | null;
  readonly channel: string;
  readonly options: DigestOptions;
  readonly paused: boolean;
  readonly by: UserId | null;
  /** When it was added or resumed: no earlier slot is required. Null for the file, which has no start date. */
  readonly since: Date | null;
}

export interface SubscriptionSources {
  readonly configured: readonly DigestOptions[];
  readonly readOptions: (input: unknown) => ConfigResult<DigestOptions>;
}

/** What an appended event would see: the log, or the log under its lock. */
type Subjects = Parameters<typeof inForce>[0];

export async function loadSubscriptions(
  subjects: Subjects,
  { configured, readOptions }: SubscriptionSources,
) {
  const all: DigestSubscription[] = configured.map(fromFile);
  // Digests whose options name something that the configuration no longer has.
  const broken: (ReturnType<typeof ownOf> & { readonly problem: string })[] = [];
  // A subscription has no end, so that the time does not matter.
  const added = await inForce(subjects, 'subscription', new Date(0));
  for (const [id, logged] of byAge(added)) {
    const one = { id, ...logged };
    const reading = readOptions({ ...one.options, channel: one.channel });
    if (reading.ok) all.push(fromSlack(one, reading.value));
    else broken.push({ ...ownOf(one), problem: problemsText(reading.problems) });
  }
  return { all, broken };
}

function byAge(added: ReadonlyMap<string, LoggedSubscription>) {
  return [...added].toSorted(([, a], [, b]) => a.since.getTime() - b.since.getTime());
}

interface Subscription extends LoggedSubscription {
  readonly id: string;
}

function ownOf({ id, channel, isPaused: paused, by, since }: Omit<Subscription, 'isRemoved'>) {
  return { key: `${channel}|${id}`, id, channel, paused, by, since };
}

export function problemsText(problems: readonly ConfigProblem[]): string {
  return problems
    .map(({ where, problem, hint }) => {
      // The keys of the file as they are typed in a command.
      const word = where.replace(/^on\.([a-z]+)s\b.*/, '$1').replace('timezone', 'zone');
      return `${word} ${problem}${hint === null ? '' : ` (${hint})`}`;
    })
    .join('; ');
}

// The file has at most one digest of each period for a channel, so these keys do not change when
// other options are edited. With a new key, the current digest would be posted a second time.
function fromFile(options: DigestOptions): DigestSubscription {
  const { channel, period } = options;
  const key = period === 'day' ? channel : `${channel}|${period}`;
  return { key, id: null, channel, options, paused: false, by: null, since: null };
}

/** A digest that was added in Slack. */
export function fromSlack(
  one: Omit<Subscription, 'isRemoved'>,
  options: DigestOptions,
): DigestSubscription {
  return { ...ownOf(one), options };
}

/** The name in commands: the id, or channel and period, which are unique in the file. */
export function digestName({ id, channel, options }: DigestSubscription): string {
  return id ?? `${channel}:${options.period}`;
}
