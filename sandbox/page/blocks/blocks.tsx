import type { ComponentType } from 'react';
import { type Json, list, numberOf, stringOf, textOf } from '../../json.ts';
import { Element, Undrawable } from '../elements/element.tsx';
import { LibraryBlock } from '../text/library-block.tsx';
import { TextObject } from '../text/text-object.tsx';
import { BarChart } from './bar-chart.tsx';
import { DataTable } from './data-table.tsx';
import { InputBlock } from './input-block.tsx';
import { type Surface, SurfaceContext } from './surface.ts';

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
  data_table: DataTable,
  data_visualization: BarChart,
  rich_text: LibraryBlock,
};

function Section({ block, blockId }: BlockProps) {
  const accessories = list([block.accessory]);
  const fields = list(block.fields);
  return (
    <div className="section">
      <div className="section-text">
        {list([block.text]).map((text) => (
          <p key="text">
            <TextObject value={text} />
          </p>
        ))}
        {fields.length > 0 && (
          <div className="fields">
            {fields.map((field, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a field has no id other than its position
              <TextObject key={at} value={field} />
            ))}
          </div>
        )}
      </div>
      {accessories.map((element) => (
        <Element key="accessory" {...{ blockId, element }} dispatches />
      ))}
    </div>
  );
}

function Header({ block }: BlockProps) {
  const level = numberOf(block.level) ?? 2;
  return (
    <h3 className={`header header-${level}`} aria-level={level + 1}>
      {textOf(block.text)}
    </h3>
  );
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
