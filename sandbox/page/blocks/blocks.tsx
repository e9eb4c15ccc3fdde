import type { ComponentType } from 'react';
import { type Json, list, stringOf, textOf } from '../../json.ts';
import { Element, Undrawable } from '../elements/element.tsx';
import { LibraryBlock } from '../text/library-block.tsx';
import { TextObject } from '../text/text-object.tsx';
import { BarChart } from './bar-chart.tsx';
import { DataTableBlock } from './data-table.tsx';
import { InputBlock } from './input-block.tsx';
import { type Surface, SurfaceContext } from './surface.ts';
import { TableBlock } from './table.tsx';

interface BlockProps {
  readonly block: Json;
  readonly blockId: string;
}

const BLOCKS: Readonly<Record<string, ComponentType<BlockProps>>> = {
  section: Section,
  header: Header,
  context: Context,
  divider: () => <hr className="divider" />,
  actions: Actions,
  input: InputBlock,
  data_table: DataTableBlock,
  table: TableBlock,
  data_visualization: BarChart,
  rich_text: LibraryBlock,
};

function Section({ block, blockId }: BlockProps) {
  return (
    <div className="section">
      {[block.text].filter(Boolean).map((text) => (
        <p key="text" className="section-text">
          <TextObject value={text} />
        </p>
      ))}
      <Fields fields={list(block.fields)} />
      {list([block.accessory]).map((element) => (
        <Element key="accessory" {...{ blockId, element }} dispatches />
      ))}
    </div>
  );
}

function Fields({ fields }: { fields: readonly Json[] }) {
  if (fields.length === 0) return null;
  return (
    <div className="section-fields">
      {fields.map((field, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a field has no id other than its position
        <p key={at}>
          <TextObject value={field} />
        </p>
      ))}
    </div>
  );
}

function Header({ block }: BlockProps) {
  return <h3 className="header">{textOf(block.text)}</h3>;
}

function Context({ block }: BlockProps) {
  return (
    <div className="context">
      {list(block.elements).map((element, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an element has no id other than its position
        <TextObject key={at} value={element} />
      ))}
    </div>
  );
}

function Actions({ block, blockId }: BlockProps) {
  return (
    <div className="actions">
      {list(block.elements).map((element, at) => (
        <Element key={stringOf(element.action_id) || at} {...{ blockId, element }} dispatches />
      ))}
    </div>
  );
}

export function Blocks({ surface, blocks }: { surface: Surface; blocks: readonly Json[] }) {
  return (
    <SurfaceContext value={surface}>
      {blocks.map((block, at) => {
        const type = stringOf(block.type);
        const blockId = stringOf(block.block_id) || `block-${at}`;
        const Block = BLOCKS[type];
        return (
          <div key={blockId} className={`block block-${type}`}>
            {Block ? <Block {...{ block, blockId }} /> : <Undrawable what={`block type ${type}`} />}
          </div>
        );
      })}
    </SurfaceContext>
  );
}
