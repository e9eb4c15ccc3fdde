import type { Answer } from '../answers/answer.ts';
import type { Scope } from '../arguments/freezes.ts';
import type { Asker } from '../define.ts';

/** Which command, and on what: one service, those of a scope, or null where nothing is named. */
export interface WhoQuestion {
  readonly command: string;
  readonly scope: Scope | null;
}

/** Says who may ask for a command and who decides, as things are at this moment. */
export type WhoDesk = (question: WhoQuestion, asker: Asker) => Promise<Answer>;
