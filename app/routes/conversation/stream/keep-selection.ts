/**
 * Remembers what a person has selected in a reply; the answered function selects the same in the element that shows the reply then:
 * nobody should lose a quotation while marking it. It leaves alone what the person has selected since.
 */
export function rememberSelection(reply: Element): (shown: Element | null) => void {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !reply.contains(selection.anchorNode)) return () => {};
  const from = signsBefore(reply, selection.anchorNode, selection.anchorOffset);
  const to = signsBefore(reply, selection.focusNode, selection.focusOffset);
  const said = withoutBlanks(String(selection));
  return (shown) => {
    if (!shown || withoutBlanks(String(selection)) === said) return;
    if (!selection.isCollapsed && !shown.contains(selection.anchorNode)) return;
    const texts = textsIn(shown);
    const isForward = from < to;
    const first = placeOf(texts, Math.min(from, to), 0);
    const last = placeOf(texts, Math.max(from, to) - 1, 1);
    const [anchor, focus] = isForward ? [first, last] : [last, first];
    if (!anchor || !focus) return;
    selection.setBaseAndExtent(anchor.node, anchor.offset, focus.node, focus.offset);
    if (withoutBlanks(String(selection)) !== said) selection.removeAllRanges();
  };
}

/** The nodes with the text of a reply, without its thoughts and calls. */
function textsIn(root: Element): Text[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) {
    const text = walker.currentNode as Text;
    if (text.parentElement?.closest(".prose:not(.thinking), .rest")) texts.push(text);
  }
  return texts;
}

const withoutBlanks = (text: string) => text.replace(/\s+/g, "");

/** How many signs of a reply stand before a place: blanks between blocks differ between the growing and the finished reply. */
function signsBefore(reply: Element, node: Node | null, offset: number): number {
  const before = document.createRange();
  before.setStart(reply, 0);
  if (node) before.setEnd(node, offset);
  return textsIn(reply).reduce((sum, text) => {
    const isWhole = text !== node && before.comparePoint(text, text.length) === 0;
    const part = text === node ? text.data.slice(0, offset) : isWhole ? text.data : "";
    return sum + withoutBlanks(part).length;
  }, 0);
}

/** The place of a sign of a text by its number; `behind`: how many signs behind it. */
function placeOf(texts: Text[], sign: number, behind: number): { node: Text; offset: number } | undefined {
  let left = sign;
  for (const node of texts) {
    for (const { index } of node.data.matchAll(/\S/g)) {
      if (left === 0) return { node, offset: index + behind };
      left--;
    }
  }
  return;
}
