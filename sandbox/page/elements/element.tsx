import type { ComponentType } from 'react';
import { word } from '../json.ts';
import { ButtonElement } from './button.tsx';
import { Choices } from './choices.tsx';
import type { ElementProps } from './field.ts';
import { Overflow } from './overflow.tsx';
import { Picker } from './picker.tsx';
import { Select } from './select.tsx';
import { TextInput } from './text-input.tsx';

const ELEMENTS: Readonly<Record<string, ComponentType<ElementProps>>> = {
  button: ButtonElement,
  overflow: Overflow,
  checkboxes: Choices,
  radio_buttons: Choices,
  datepicker: Picker,
  timepicker: Picker,
  datetimepicker: Picker,
  plain_text_input: TextInput,
  number_input: TextInput,
  email_text_input: TextInput,
  url_text_input: TextInput,
  static_select: Select,
  external_select: Select,
  users_select: Select,
  conversations_select: Select,
  channels_select: Select,
  multi_static_select: Select,
  multi_external_select: Select,
  multi_users_select: Select,
  multi_conversations_select: Select,
  multi_channels_select: Select,
  image: Thumbnail,
  file_input: NotHere,
  rich_text_input: NotHere,
};

/** Anything that stands in an actions or input block, or beside a section. */
export function Element(props: ElementProps) {
  const type = word(props.element.type);
  const Drawn = ELEMENTS[type];
  if (Drawn === undefined) return <Undrawable what={`element type ${type || '(none)'}`} />;
  return <Drawn {...props} />;
}

export function Undrawable({ what }: { what: string }) {
  return <div className="undrawable">{what} cannot be drawn here</div>;
}

function Thumbnail({ element }: ElementProps) {
  return <img className="thumbnail" src={word(element.image_url)} alt={word(element.alt_text)} />;
}

function NotHere({ element }: ElementProps) {
  return <div className="undrawable">{word(element.type)} is not in the sandbox</div>;
}
