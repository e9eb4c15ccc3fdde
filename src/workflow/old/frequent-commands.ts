import type { UserId } from '../../domain/change.ts';
import { requestedCommands } from '../../log/old/change-lists.ts';
import type { DecisionContext } from './ports.ts';

const MOST = 3;

/**
 * The names of the commands that a user requested most, in order; none if the database does not answer,
 * because the help that shows them works without it.
 */
export async function frequentCommands(
  { database, log }: DecisionContext,
  by: UserId,
): Promise<readonly string[]> {
  try {
    return await requestedCommands(database.db, by, MOST);
  } catch (err) {
    log.warn({ err }, 'the most used commands could not be read');
    return [];
  }
}
