import type { Change, UserId } from '../../changes/change.ts';
import type { Refusal } from '../../changes/refusal.ts';

/**
 * What a query answers, without a word of Slack in it. Texts are plain: whatever they hold is
 * shown as it stands.
 */
export interface Answer {
  readonly title: string;
  readonly parts: readonly AnswerPart[];
  /** Drawn above it as its card, without the buttons that are not this reader's to press. */
  readonly change?: { readonly change: Change; readonly hidden: readonly string[] };
  /** Instead of all of it: why not, in the sentence that belongs to the name. */
  readonly refused?: { readonly refusal: Refusal; readonly change: Change | null };
}

/** A figure sorts by its value and reads as its text; one that is not known sorts below all. */
export interface Figure {
  readonly value: number | null;
  readonly text: string;
}

export type Cell = string | number | Date | Figure | null;

/** A piece of a line: literal, standing out, a person who is named, or a time on the reader's clock. */
export type InlinePart =
  | string
  | { readonly bold: string }
  | { readonly user: UserId }
  | { readonly group: string }
  | { readonly at: Date };

export type AnswerPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'lines'; readonly lines: readonly (readonly InlinePart[])[] }
  | { readonly kind: 'facts'; readonly facts: readonly (readonly [string, Cell])[] }
  | {
      readonly kind: 'table';
      /** What it shows, beside the title; the title where there is nothing to add. */
      readonly caption?: string;
      readonly columns: readonly string[];
      readonly rows: readonly (readonly Cell[])[];
    }
  /** One value for each label, in their order; a mark behind a label says what it stands for. */
  | {
      readonly kind: 'chart';
      readonly title: string;
      readonly unit: string;
      /** Which labels these are, and what their marks mean. */
      readonly axis: string;
      readonly points: readonly { readonly label: string; readonly value: number }[];
    }
  | { readonly kind: 'offers'; readonly offers: readonly CommandOffer[] }
  | { readonly kind: 'deeds'; readonly deeds: readonly AnswerAction[] }
  /** Too much to read in a message: into the thread in which it was asked for, else in private. */
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  /** A line for each: how it stands, whose it is and since when. */
  | { readonly kind: 'changes'; readonly changes: readonly Change[] }
  /** More offers than there is room for buttons. */
  | { readonly kind: 'menu'; readonly label: string; readonly offers: readonly CommandOffer[] };

/** A button that types a command for whoever presses it; it lends no right. */
export interface CommandOffer {
  readonly label: string;
  readonly line: string;
}

/** A button that does something with one thing; its value is an id, and lends no right either. */
export interface AnswerAction {
  readonly id: string;
  readonly label: string;
  readonly value: string;
}
