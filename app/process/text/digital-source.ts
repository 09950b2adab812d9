/**
 * IPTC's terms for media that a trained model has made, alone or together with people (cv.iptc.org/newscodes/digitalsourcetype). They
 * mark for machines what is generated, as article 50 of the EU's AI Act (Regulation 2024/1689) wants it.
 */
export const digitalSource = {
  generated: "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia",
  partlyGenerated: "http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia",
} as const;
