/**
 * What a query answers, without a word of Slack in it. Texts are plain: whatever they hold is
 * shown as it stands.
 */
export interface Answer {
  readonly title: string;
  readonly parts: readonly Part[];
}

export type Cell = string | number | Date | null;

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'facts'; readonly facts: readonly (readonly [string, Cell])[] }
  | {
      readonly kind: 'table';
      readonly columns: readonly string[];
      readonly rows: readonly (readonly Cell[])[];
    }
  | { readonly kind: 'offers'; readonly offers: readonly Offer[] }
  /** More offers than there is room for buttons. */
  | { readonly kind: 'menu'; readonly label: string; readonly offers: readonly Offer[] };

/** A button that types a command for whoever presses it; it lends no right. */
export interface Offer {
  readonly label: string;
  readonly line: string;
}
