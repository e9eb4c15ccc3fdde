import { type ReactNode, useState } from 'react';
import type { Json } from '../../protocol.ts';
import { Element } from '../elements/element.tsx';
import { amount, isJson, list, record, textOf, word } from '../json.ts';
import { withEmoji } from '../text/emoji.ts';
import { TextObject } from '../text/text-object.tsx';

export interface BlockProps {
  readonly block: Json;
  readonly blockId: string;
}

// Slack puts wide accessories under the text, narrow ones beside it.
const BELOW = new Set(['checkboxes', 'radio_buttons']);

export function Section({ block, blockId }: BlockProps) {
  const accessory = isJson(block.accessory) ? block.accessory : null;
  const below = accessory !== null && BELOW.has(word(accessory.type));
  return (
    <div className={below ? 'section below' : 'section'}>
      <div className="section-text">
        {isJson(block.text) && (
          <p>
            <TextObject value={block.text} />
          </p>
        )}
        <Fields fields={list(block.fields)} />
      </div>
      {accessory !== null && <Element blockId={blockId} element={accessory} dispatches />}
    </div>
  );
}

function Fields({ fields }: { fields: readonly Json[] }) {
  if (fields.length === 0) return null;
  return (
    <div className="fields">
      {fields.map((field, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a field's position is its identity
        <div key={at}>
          <TextObject value={field} />
        </div>
      ))}
    </div>
  );
}

export function Header({ block }: BlockProps) {
  const level = amount(block.level) ?? 2;
  return (
    <h3 className={`header header-${level}`} aria-level={level + 1}>
      {withEmoji(textOf(block.text))}
    </h3>
  );
}

export function Context({ block }: BlockProps) {
  return (
    <div className="context">
      {list(block.elements).map((element, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an element's position is its identity
        <span key={at}>
          {element.type === 'image' ? (
            <img src={word(element.image_url)} alt={word(element.alt_text)} />
          ) : (
            <TextObject value={element} />
          )}
        </span>
      ))}
    </div>
  );
}

export function Actions({ block, blockId }: BlockProps) {
  return (
    <div className="actions">
      {list(block.elements).map((element, at) => (
        <Element key={word(element.action_id) || at} {...{ blockId, element }} dispatches />
      ))}
    </div>
  );
}

export function Image({ block }: BlockProps) {
  const title = textOf(block.title);
  const source = word(block.image_url) || word(record(block.slack_file).url);
  return (
    <figure className="image-block">
      {title !== '' && <figcaption>{withEmoji(title)}</figcaption>}
      <img src={source} alt={word(block.alt_text)} />
    </figure>
  );
}

const ALERTS: Readonly<Record<string, string>> = {
  info: 'i',
  success: '✓',
  warning: '!',
  error: '!',
};

export function Alert({ block }: BlockProps) {
  const level = word(block.level) in ALERTS ? word(block.level) : 'default';
  return (
    <div className={`alert ${level}`} role={level === 'error' ? 'alert' : 'note'}>
      <span className="alert-mark" aria-hidden="true">
        {ALERTS[level] ?? 'i'}
      </span>
      <TextObject value={block.text} />
    </div>
  );
}

interface Collapsible {
  readonly block: Json;
  readonly children: ReactNode;
}

/** A container's frame; its title folds the inside where the bot allows it. */
export function Container({ block, children }: Collapsible) {
  const [folded, setFolded] = useState(block.default_collapsed === true);
  const foldable = block.is_collapsible === true;
  const title = <TextObject value={block.title} />;
  return (
    <section className="container">
      <header>
        {foldable ? (
          <button
            type="button"
            className="container-fold"
            aria-expanded={!folded}
            onClick={() => setFolded(!folded)}
          >
            <span className={folded ? 'chevron folded' : 'chevron'} aria-hidden="true" />
            {title}
          </button>
        ) : (
          title
        )}
        {isJson(block.subtitle) && (
          <small>
            <TextObject value={block.subtitle} />
          </small>
        )}
      </header>
      {!folded && children}
    </section>
  );
}
