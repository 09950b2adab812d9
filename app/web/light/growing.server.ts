// Tags and classes of Markdown, of code, of mathematics and of the elements around them.
const tags =
  "a article aside blockquote br button code dd del details div dl dt em figcaption figure form h2 h3 h4 h5 h6 hr input label li math nav ol option p pre s section select span strong sub summary sup svg table tbody td textarea th thead tr ul use";
const classes =
  "action actions asked bad button buttons call call-outcome clip code decision ended error field fields hint icon input label line made menu middle num opinion outcome only primary prose quiet reasoning ref refusing result scroll select small sources sr-only stepper table text thinking thought took why hljs-attr hljs-built_in hljs-comment hljs-keyword hljs-literal hljs-number hljs-string hljs-subst";

/**
 * HTML with the tags and classes that a growing reply may bring, for the styles of a light page, which are sent before it: what
 * Markdown becomes, thoughts, calls of tools and the end of a reply.
 */
export const growingReply = `${tags.replace(/\S+/g, "<$&>")}<i class="${classes}">`;
