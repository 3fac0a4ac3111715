#include "analyzer/built_in/built_in.h"

#include "analyzer/built_in/images.h"
#include "analyzer/knowledge/image.h"
#include "analyzer/launch/tables_image.h"

namespace allranks::built_in {

using knowledge::Image;

void FillKnowledge(knowledge::Knowledge& knowledge) { Image::Read(kKnowledgeImage, Image::State::Finished, knowledge); }

void BeginKnowledge(knowledge::Knowledge& knowledge) { Image::Read(kKnowledgeImage, Image::State::Open, knowledge); }

void FillTables(launch::LauncherTables& tables) { launch::TablesImage::Read(kLaunchImage, tables); }

}  // namespace allranks::built_in
