import type { Answer } from '../answers/answer.ts';
import type { Asker } from '../define.ts';

export const DIGEST_DEEDS = ['list', 'add', 'remove', 'pause', 'resume', 'now', 'preview'] as const;

/** What somebody wants done about cost digests; null where nothing was said of it. */
export interface DigestWish {
  readonly what: (typeof DIGEST_DEEDS)[number];
  /** A channel as people write it, or the id of one digest. */
  readonly which: string | null;
  /** As in the configuration file, and judged by the same schema. */
  readonly options: Readonly<Record<string, unknown>>;
}

export type DigestDesk = (wish: DigestWish, asker: Asker) => Promise<Answer>;
