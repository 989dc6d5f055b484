// Nodes of the page, from data: words are only ever set as text, never as HTML.

/** A node, made of text and other nodes; `on...` listens. */
export function node(name, attributes = {}, ...inner) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...inner);
  return made;
}
