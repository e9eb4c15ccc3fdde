import type { Json } from '../../protocol.ts';
import { LibraryBlock } from '../text/library-block.tsx';
import { wordsOf } from './cell-value.ts';

/** A table's cell. Raw text is never markup, which makes it the safe place for foreign words. */
export function Cell({ cell }: { cell: Json | undefined }) {
  if (cell?.type === 'rich_text') return <LibraryBlock block={cell} />;
  return <>{wordsOf(cell)}</>;
}
