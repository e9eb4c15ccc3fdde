import { Element } from '../elements/element.tsx';
import { isJson, list, record, word } from '../json.ts';
import { TextObject } from '../text/text-object.tsx';
import type { BlockProps } from './shown.tsx';

const PARTS = ['title', 'subtitle', 'body', 'subtext'] as const;

export function Card({ block, blockId }: BlockProps) {
  const hero = record(block.hero_image);
  const icon = record(block.icon);
  const buttons = list(block.actions);
  return (
    <div className="card">
      {isJson(block.hero_image) && (
        <img className="card-hero" src={word(hero.image_url)} alt={word(hero.alt_text)} />
      )}
      <div className="card-inside">
        {isJson(block.icon) && (
          <img className="thumbnail" src={word(icon.image_url)} alt={word(icon.alt_text)} />
        )}
        {PARTS.filter((part) => isJson(block[part])).map((part) => (
          <div key={part} className={`card-${part}`}>
            <TextObject value={block[part]} />
          </div>
        ))}
        {buttons.length > 0 && (
          <div className="actions">
            {buttons.map((element, at) => (
              <Element key={word(element.action_id) || at} {...{ blockId, element }} dispatches />
            ))}
          </div>
        )}
      </div>
    </div>
  );
}

export function Carousel({ block, blockId }: BlockProps) {
  return (
    <div className="carousel">
      {list(block.elements).map((card, at) => (
        <Card
          key={word(card.block_id) || at}
          block={card}
          blockId={word(card.block_id) || blockId}
        />
      ))}
    </div>
  );
}
