import { readFileSync } from 'node:fs';
import { readStore } from '../config/environment.ts';
import type { AuditKey } from '../log/old/key-ring.ts';
import { readKeyRing } from '../log/old/key-ring.ts';

interface Store {
  readonly url: string;
  readonly key: AuditKey;
}

/** The database and its keys. Without valid variables it writes each problem and exits with 2. */
export function storeOf(env: NodeJS.ProcessEnv): Store {
  const store = readStore(env, (path) => readFileSync(path, 'utf8'));
  if (!store.ok) {
    const sentences = store.problems.map(({ where, problem, hint }) =>
      [`${where} ${problem}`, ...(hint ? [hint] : [])].join(': '),
    );
    return leave(sentences.join('\n'), 2);
  }
  const { DATABASE_URL, SIGNALBOX_KEY, SIGNALBOX_PREVIOUS_KEYS: previous } = store.value;
  const key = readKeyRing(
    SIGNALBOX_KEY?.reveal() ?? null,
    previous.map((one) => one.reveal()),
  );
  return { url: DATABASE_URL.reveal(), key };
}

/** Writes the sentence as an error and exits: 1 for a failure, 2 for wrong options or variables. */
export function leave(sentence: string, code: 1 | 2): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(code);
}
