import { ApiError } from '../base/errors.ts';
import type { UsagePeriod } from './schema.ts';

/** `2026-10-01T00:00:00Z`, as in the contract, or `2026-10-01`. */
export type UsageDateForm = 'date-time' | 'date';

export interface UsageDates {
  /** With `auto`, the form that the server accepts is detected. */
  readonly setting: UsageDateForm | 'auto';
  /** The detected form of earlier processes. Must not throw. */
  readonly load: () => Promise<UsageDateForm | null>;
  readonly store: (form: UsageDateForm) => Promise<void>;
}

/** Detects the form again in each process. */
export function notStored(setting: UsageDates['setting']): UsageDates {
  return { setting, load: async () => null, store: async () => undefined };
}

/**
 * Asks with the dates in the form that the server accepts. If it refuses one form and the reason can
 * be the dates, the other form is tried once. If that succeeds, it is used and stored from then on.
 * Source: docs/apis.md#usage-report.
 */
export function createDateFormats({ setting, load, store }: UsageDates = notStored('auto')) {
  let known: UsageDateForm | null = setting === 'auto' ? null : setting;

  return async function withFormat<T>(
    period: UsagePeriod,
    ask: (query: Record<string, string>) => Promise<T>,
  ): Promise<T> {
    known ??= (await load()) ?? 'date-time';
    const form = known;
    try {
      return await ask(queryOf(period, form));
    } catch (error) {
      if (setting !== 'auto' || !canBeAboutDates(error, period)) throw error;
      const other = form === 'date' ? 'date-time' : 'date';
      const answer = await ask(queryOf(period, other));
      known = other;
      await store(other);
      return answer;
    }
  };
}

function queryOf({ from_date, to_date }: UsagePeriod, form: UsageDateForm) {
  const end = form === 'date' ? '' : 'T00:00:00Z';
  return { from_date: `${from_date}${end}`, to_date: `${to_date}${end}` };
}

const WITHOUT_REASON =
  /^(?:bad[_ ]request|unprocessable[_ ](?:entity|content)|invalid[_ ](?:request|parameters?)|validation[_ ](?:failed|error))?[.:! ]*$/;

/** Whether the text quotes a day, also URL-encoded, names a date field, or has no reason at all. */
function canBeAboutDates(error: unknown, { from_date, to_date }: UsagePeriod): boolean {
  if (!(error instanceof ApiError) || (error.status !== 400 && error.status !== 422)) return false;
  const text = (error.serverText ?? '').toLowerCase().replaceAll('%2d', '-');
  const isQuoted = text.includes(from_date) || text.includes(to_date);
  return (
    isQuoted || /\b(?:from|to)[ _-]?date|\bdate|\btime/.test(text) || WITHOUT_REASON.test(text)
  );
}
