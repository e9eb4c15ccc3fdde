import type { ComponentType } from 'react';
import type { Json } from '../../protocol.ts';
import { Undrawable } from '../elements/element.tsx';
import { blockIdOf } from '../elements/element-state.ts';
import { list, word } from '../json.ts';
import { LibraryBlock } from '../text/library-block.tsx';
import { Card, Carousel } from './card.tsx';
import { Chart } from './chart.tsx';
import { DataTable } from './data-table.tsx';
import { InputBlock } from './input-block.tsx';
import {
  Actions,
  Alert,
  type BlockProps,
  Container,
  Context,
  Header,
  Image,
  Section,
} from './shown.tsx';
import { type Surface, SurfaceContext } from './surface.ts';
import { Table } from './table.tsx';

const OURS: Readonly<Record<string, ComponentType<BlockProps>>> = {
  section: Section,
  header: Header,
  context: Context,
  divider: () => <hr className="divider" />,
  image: Image,
  actions: Actions,
  input: InputBlock,
  alert: Alert,
  card: Card,
  carousel: Carousel,
  table: Table,
  data_table: DataTable,
  data_visualization: Chart,
  container: ({ block }) => (
    <Container block={block}>
      <BlockList blocks={list(block.child_blocks)} />
    </Container>
  ),
};

/** What only shows and has no text in Slack's own markup is the library's. */
const LIBRARY = new Set(['rich_text', 'markdown', 'plan', 'task_card', 'video']);

function BlockOf({ block, blockId }: BlockProps) {
  const type = word(block.type);
  const Drawn = OURS[type];
  if (Drawn !== undefined) return <Drawn block={block} blockId={blockId} />;
  if (LIBRARY.has(type)) return <LibraryBlock block={block} />;
  return <Undrawable what={`block type ${type || '(none)'}`} />;
}

function BlockList({ blocks }: { blocks: readonly Json[] }) {
  return blocks.map((block, at) => {
    const blockId = blockIdOf(block, at);
    return (
      <div key={blockId} className={`block block-${word(block.type)}`}>
        <BlockOf block={block} blockId={blockId} />
      </div>
    );
  });
}

export function Blocks({ surface, blocks }: { surface: Surface; blocks: readonly Json[] }) {
  return (
    <SurfaceContext value={surface}>
      <BlockList blocks={blocks} />
    </SurfaceContext>
  );
}
