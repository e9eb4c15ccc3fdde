import type { Change, Position, UserId } from '../../src/domain/change.ts';
import type { AttemptMark, CardMark, Messenger } from '../../src/workflow/context.ts';
import type { JobResult } from '../../src/workflow/jobs.ts';
import { messageKinds } from '../../src/workflow/show.ts';
import { channel, createTestContext, type TestContext } from './context.ts';

interface Card {
  readonly change: string;
  readonly to: string;
  readonly at: Position;
  mark: CardMark | null;
  state: string;
  notes: AttemptMark[];
}

/** A Slack that keeps cards with their marks, which can be unreachable, and whose messages can be deleted. */
export function slackOfCards() {
  const cards: Card[] = [];
  const state = { isReachable: true, posts: 0, redraws: 0, reads: 0, ignoredRedraws: 0 };
  const call = () => {
    if (!state.isReachable) throw new Error('ECONNREFUSED');
  };
  const cardAt = ({ ts }: Position) => cards.find(({ at }) => at.ts === ts);
  const post = (change: Change, to: string): Position => {
    state.posts += 1;
    const at = { channel: channel(to), ts: `${2_000 + state.posts}.0` };
    const mark = { version: change.version, hash: change.hash };
    cards.push({ change: change.id, to, at, mark, state: change.state, notes: [] });
    return at;
  };
  const messages: Partial<Messenger> = {
    postCard: async (change, { again }) => {
      call();
      const earlier = again ? cards.find((each) => each.change === change.id) : undefined;
      return earlier?.at ?? post(change, 'CAPPROVALS');
    },
    postDirectCard: async (change: Change, user: UserId) => {
      call();
      return post(change, `D${user}`);
    },
    redrawCard: async (change, at, _schedule, revision) => {
      call();
      state.redraws += 1;
      const card = cardAt(at);
      if (!card) return 'deleted';
      if (state.ignoredRedraws > 0) {
        state.ignoredRedraws -= 1;
        return 'drawn';
      }
      card.mark = { version: change.version, hash: change.hash, ...(revision && { revision }) };
      card.state = change.state;
      return 'drawn';
    },
    readCard: async (at) => {
      call();
      state.reads += 1;
      const card = cardAt(at);
      return card ? { card: card.mark, notes: card.notes } : null;
    },
  };
  return { cards, state, messages };
}

/** A workflow with such a Slack, whose jobs are run by hand. */
export async function workflowWithCards(over: Parameters<typeof createTestContext>[0] = {}) {
  const slack = slackOfCards();
  const messages = { ...slack.messages, ...over?.messages };
  const world: TestContext = await createTestContext({ ...over, messages });
  const kinds = messageKinds(world.context);
  const run = (kind: string, key: string, attempts = 1): Promise<JobResult> => {
    const found = kinds[kind];
    if (!found) throw new Error(`There is no job ${kind}`);
    return found.run({ key, attempts, again: attempts > 1 });
  };
  const told = (name: keyof Messenger) =>
    world.shown.filter((each) => each.name === name).map(({ given }) => given);
  return { ...world, slack, kinds, run, told };
}
