import type { Logger } from 'pino';
import { z } from 'zod';
import type { UsageDates } from '../servers/cloud-reads.ts';
import type { Database } from '../storage/engine/database.ts';
import { readMeta, writeMeta } from '../storage/tables/meta.ts';

const KEY = 'usage-dates';
const Form = z.enum(['date-time', 'date']).nullable().catch(null);

/**
 * The form of the dates in requests for the usage report, stored in the database. While that is
 * unavailable, each process detects the form again. Source: docs/apis.md#usage-report.
 */
export function openUsageDates(
  setting: UsageDates['setting'],
  { db, transaction }: Pick<Database, 'db' | 'transaction'>,
  log: Pick<Logger, 'warn'>,
): UsageDates {
  const failed = (err: unknown) => {
    log.warn({ err }, 'the date form of the usage report was not stored or read');
    return null;
  };
  return {
    setting,
    load: async () => Form.parse(await readMeta(db, KEY).catch(failed)),
    store: async (form) => {
      await transaction((tx) => writeMeta(tx, KEY, form)).catch(failed);
    },
  };
}
