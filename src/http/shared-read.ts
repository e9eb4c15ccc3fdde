import { setTimeout as wait } from 'node:timers/promises';

/**
 * Reads that several askers share: one question is under way at a time for each key, and its
 * answer serves for a while. A failure is never kept, so that the next asker asks anew.
 */
export interface SharedRead<Value> {
  /**
   * `fresh` takes no answer to a question that left before it was asked; it shares one with others
   * that ask afresh within the same few milliseconds.
   */
  read(key: string, how: { readonly fresh: boolean }): Promise<Value>;
  forget(key: string): void;
}

/** How long a fresh question waits for others of its kind before it leaves. */
const GATHER_MS = 10;

interface Question<Value> {
  left: boolean;
  answer: Promise<Value>;
}

export function sharedRead<Value>(
  fetch: (key: string) => Promise<Value>,
  keepMs: number,
  now: () => number,
): SharedRead<Value> {
  const kept = new Map<string, { readonly value: Value; readonly until: number }>();
  const asked = new Map<string, Question<Value>>();

  async function put(key: string, question: Omit<Question<Value>, 'answer'>): Promise<Value> {
    if (!question.left) await wait(GATHER_MS);
    question.left = true;
    const value = await fetch(key);
    if (asked.get(key) === question) kept.set(key, { value, until: now() + keepMs });
    return value;
  }

  function ask(key: string, fresh: boolean): Promise<Value> {
    const question = { left: !fresh };
    const answer = put(key, question);
    asked.set(key, Object.assign(question, { answer }));
    const settled = () => {
      if (asked.get(key) === question) asked.delete(key);
    };
    answer.then(settled, settled);
    return answer;
  }

  return {
    read: (key, { fresh }) => {
      const running = asked.get(key);
      if (running && (!fresh || !running.left)) return running.answer;
      const answer = kept.get(key);
      if (!fresh && answer && now() < answer.until) return Promise.resolve(answer.value);
      return ask(key, fresh);
    },
    forget: (key) => {
      kept.delete(key);
      // An answer that is still on its way was asked before the news: it is not kept either.
      asked.delete(key);
    },
  };
}
