import type { Change, UserId, Verb } from '../../src/domain/change.ts';
import type { Place } from '../../src/domain/place.ts';
import { receiveClick } from '../../src/workflow/old/click.ts';
import { handleClick } from '../../src/workflow/old/review.ts';
import { aChange, user } from '../storage/example-change.ts';
import { storedChange } from './stored-change.ts';

export const REQUIRES = { ...aChange().requires, count: 1 };
export const PENDING: Partial<Change> = { state: 'pending', approvals: [], requires: REQUIRES };
export const DRAFT: Partial<Change> = { ...PENDING, state: 'draft', confirmedAt: null };

const NOWHERE = { url: null, channel: null, ts: null, thread: null, replaces: false, home: false };
/** A stored change, and the handling of one click on it. */
export async function clickable(circumstances: Parameters<typeof storedChange>[0]) {
  const all = await storedChange(circumstances);
  const { context, change } = all;
  const asked: unknown[] = [];
  const people = {
    ...context.people,
    identify: (id: UserId, how: { fresh: boolean }) => {
      asked.push([id, how.fresh]);
      return context.people.identify(id, how);
    },
    someMembers: async (role: string) => ({ users: [user(`U${role}`)], more: false }),
  };
  const press = async (
    verb: Verb,
    by: UserId,
    text = '',
    id = change.id,
    place: Place = { kind: 'own' },
  ) => {
    const click = { verb, change: id, by, text, place, replyTo: { ...NOWHERE, user: by } };
    await receiveClick(context, 'key 1', click);
    return handleClick({ ...context, people }, { key: 'key 1', at: context.now() }, click);
  };
  const isHandled = async () => {
    const query = context.database.db.selectFrom('inbox').select('handled_at');
    return (await query.executeTakeFirstOrThrow()).handled_at !== null;
  };
  return { ...all, press, isHandled, asked };
}
