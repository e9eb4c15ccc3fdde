import type { Named } from '../directory/directory.ts';
import type { Answer } from './answer.ts';
import type { Asker } from './define.ts';

/** Which command, and on what: a service, everything, or null where nothing is named. */
export interface WhoQuestion {
  readonly command: string;
  readonly scope: Named | null;
}

/** Says who may ask for a command and who decides, as things are at this moment. */
export type WhoDesk = (question: WhoQuestion, asker: Asker) => Promise<Answer>;
