// Elements: built from values, never from text that could be markup.

/** @typedef {string | number | Node | null | undefined | false | DomChild[]} DomChild */

/**
 * An element with its attributes, listeners (on...) and children.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | null | undefined | ((e: any) => void)>} [attributes]
 * @param {...DomChild} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  append(element, children);
  return element;
}

/** @param {Element} element @param {DomChild[]} children */
function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child instanceof Node) element.append(child);
    else if (child !== null && child !== undefined && child !== false) element.append(String(child));
  }
}

/** Replaces what an element holds. @param {Element} element @param {...DomChild} children */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** A button. @param {string} label what it is called @param {DomChild} face @param {() => void} press @param {Record<string, string | boolean>} [more] */
export function button(label, face, press, more = {}) {
  return h('button', { type: 'button', 'aria-label': label, title: label, onclick: press, ...more }, face);
}

/** A canvas that is as wide as its parent, sharp on every screen; it returns its size in CSS pixels. @param {HTMLCanvasElement} canvas */
export function fitCanvas(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return { ctx, width, height };
}
